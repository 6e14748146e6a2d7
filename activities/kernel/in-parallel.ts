/**
 * Calls `work` for each item, at most `limit` at a time; results are in the order of the items. After an error nothing
 * new is started, and the first error is thrown once the running calls have ended.
 */
export async function inParallel<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker));
  const rejected = workers.find((outcome) => outcome.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
  return results;
}
