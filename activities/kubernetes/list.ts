import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from './failure.ts';

/** Objects in one answer: the page size that the API's own clients use. */
const PAGE_SIZE = 500;

/** How often a list whose continue token expired is begun again. */
const RESTARTS = 3;

/** Asks for one page: `({ limit, _continue }) => core.listNamespacedPod({ namespace, limit, _continue })`. */
export type ListPage<T extends KubernetesObject> = (range: {
  limit: number;
  _continue?: string;
}) => Promise<KubernetesListObject<T>>;

/** Every object of a list, page by page; one consistent snapshot, as `listSnapshot`. */
export async function listAll<T extends KubernetesObject>(page: ListPage<T>): Promise<T[]> {
  return (await listSnapshot(page)).items;
}

/**
 * A whole list, page by page, with the resourceVersion that a watch can go on from. A continue token that expired (410)
 * begins the list again, so that the result is one consistent snapshot.
 */
export async function listSnapshot<T extends KubernetesObject>(page: ListPage<T>): Promise<KubernetesListObject<T>> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await listOnce(page);
    } catch (error) {
      if (statusCode(error) !== 410 || restarts >= RESTARTS) throw error;
    }
  }
}

async function listOnce<T extends KubernetesObject>(page: ListPage<T>): Promise<KubernetesListObject<T>> {
  const first = await page({ limit: PAGE_SIZE });
  const items = [...first.items];
  // The last page says "" or nothing.
  let token = first.metadata?._continue;
  while (token) {
    const answer = await page({ limit: PAGE_SIZE, _continue: token });
    items.push(...answer.items);
    token = answer.metadata?._continue;
  }
  return { ...first, items };
}
