/**
 * Waits for all of them, as `Promise.all`, but also when one has failed, so that the caller knows everything that was
 * started and can stop it.
 */
export async function allSettled<T extends readonly unknown[]>(
  starts: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  await Promise.allSettled(starts);
  return await Promise.all(starts);
}
