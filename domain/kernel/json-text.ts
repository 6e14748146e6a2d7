import type { z } from 'zod';

/** What a JSON text says; null where it is no JSON, or has another shape: somebody may have written it by hand. */
export function readJsonText<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
