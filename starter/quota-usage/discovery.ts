/** Which resources a cluster serves, in two requests. */
import { z } from 'zod';
import type { DiscoveredResource, Discovery } from '../../domain/quota-usage/monitors.ts';
import { type ApiGet, failureOf } from '../../activities/kubernetes/api-get.ts';

/** Aggregated discovery, as kubectl asks for it: v2 since Kubernetes 1.30, the beta of the same shape since 1.26. */
const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

/** The core group, and all named groups. */
const PATHS = ['/api', '/apis'] as const;

/** Go omits empty lists and strings. */
const groupDiscoveryList = z.object({
  kind: z.literal('APIGroupDiscoveryList'),
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string().default('') }).prefault({}),
        versions: z
          .array(
            z.object({
              version: z.string(),
              /** `Stale` when the API server behind the group-version does not respond. */
              freshness: z.string().optional(),
              resources: z
                .array(
                  z.object({
                    resource: z.string(),
                    scope: z.string().optional(),
                    verbs: z.array(z.string()).nullish(),
                  }),
                )
                .nullish(),
            }),
          )
          .nullish(),
      }),
    )
    .nullish(),
});

type GroupDiscovery = NonNullable<z.infer<typeof groupDiscoveryList>['items']>[number];

/** Asks once which resources exist. Never throws: the result contains the failures. */
export type Discover = () => Promise<Discovery>;

/**
 * Rounds of discovery over one connection, with conditional requests.
 *
 * A group-version whose server does not respond is in `failed`; earlier results for it do not count as discovered. If
 * one of the two requests fails, the whole round fails, because half of the resources would seem to be gone.
 */
export function createDiscovery(get: ApiGet): Discover {
  const cached = new Map<string, { readonly etag: string; readonly groups: readonly GroupDiscovery[] }>();
  const groupsAt = async (path: string): Promise<readonly GroupDiscovery[]> => {
    const before = cached.get(path);
    const answer = await get(path, { accept: AGGREGATED, ifNoneMatch: before?.etag });
    if (answer.kind === 'notModified') return before?.groups ?? [];
    const read = groupDiscoveryList.safeParse(answer.body);
    if (!read.success) {
      const first = read.error.issues[0];
      throw new Error(`${path} is not aggregated discovery: ${first?.path.join('.')}: ${first?.message}`);
    }
    const groups = read.data.items ?? [];
    if (answer.etag === undefined) cached.delete(path);
    else cached.set(path, { etag: answer.etag, groups });
    return groups;
  };
  return async () => {
    try {
      const groups = (await Promise.all(PATHS.map(groupsAt))).flat();
      return { kind: 'discovered', resources: groups.flatMap(resourcesOf), failed: groups.flatMap(failedOf) };
    } catch (error) {
      return { kind: 'failed', reason: failureOf(error).reason };
    }
  };
}

const isStale = ({ freshness }: { readonly freshness?: string | undefined }): boolean => freshness === 'Stale';

function failedOf({ metadata: { name }, versions }: GroupDiscovery): readonly string[] {
  return (versions ?? []).filter(isStale).map(({ version }) => (name === '' ? version : `${name}/${version}`));
}

/** Each resource once, in the first version that has it: the server lists the versions in order of preference. */
function resourcesOf({ metadata: { name: group }, versions }: GroupDiscovery): readonly DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>();
  for (const { version, resources } of (versions ?? []).filter((served) => !isStale(served))) {
    for (const { resource, scope, verbs } of resources ?? []) {
      if (found.has(resource)) continue;
      found.set(resource, { group, resource, version, namespaced: scope === 'Namespaced', verbs: verbs ?? [] });
    }
  }
  return [...found.values()];
}
