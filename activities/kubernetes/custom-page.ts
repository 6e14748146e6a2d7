/** Lists of custom resources, for which the client has no types. */
import type { V1ListMeta } from '@kubernetes/client-node';
import { z } from 'zod';
import { statusCode } from './failure.ts';

/** As in the API server's JSON. */
const rawList = z.object({
  metadata: z.object({ continue: z.string().optional() }).optional(),
  items: z.array(z.unknown()),
});

/** One page, each object converted at once; an empty one where the cluster does not serve the resource. */
export async function customPage<T>(
  request: Promise<unknown>,
  convert: (object: unknown) => T,
): Promise<{ readonly metadata: V1ListMeta | undefined; readonly items: T[] }> {
  try {
    const { metadata, items } = rawList.parse(await request);
    return {
      metadata: metadata?.continue === undefined ? undefined : { _continue: metadata.continue },
      items: items.map(convert),
    };
  } catch (error) {
    if (statusCode(error) === 404) return { metadata: undefined, items: [] };
    throw error;
  }
}
