import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from './kubernetes-failure.ts';

/** Objects in one answer: the page size that the API's own clients use. */
const PAGE_SIZE = 500;

/** How often a list whose continue token expired is begun again. */
const RESTARTS = 3;

/**
 * Every object of a list, page by page. A continue token that expired (410) begins the list again, so that the result is
 * one consistent snapshot.
 *
 * @param page asks for one page: `({ limit, _continue }) => core.listNamespacedPod({ namespace, limit, _continue })`.
 */
export async function listAll<T extends KubernetesObject>(
  page: (range: { limit: number; _continue?: string }) => Promise<KubernetesListObject<T>>,
): Promise<T[]> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await listOnce(page);
    } catch (error) {
      if (statusCode(error) !== 410 || restarts >= RESTARTS) throw error;
    }
  }
}

async function listOnce<T extends KubernetesObject>(
  page: (range: { limit: number; _continue?: string }) => Promise<KubernetesListObject<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let token: string | undefined;
  do {
    const answer = await page({ limit: PAGE_SIZE, ...(token === undefined ? {} : { _continue: token }) });
    items.push(...answer.items);
    // The last page says "" or nothing.
    token = answer.metadata?._continue || undefined;
  } while (token !== undefined);
  return items;
}
