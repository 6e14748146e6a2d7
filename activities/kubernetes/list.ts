import { type KubernetesListObject, type KubernetesObject, setHeaderOptions } from '@kubernetes/client-node';
import { statusCode } from './failure.ts';

/** Objects per page; the default of the Kubernetes clients. */
const PAGE_SIZE = 500;

/** How often a list is restarted when its continue token expired. */
const RESTARTS = 3;

/** Requests one page: `({ limit, _continue }) => core.listNamespacedPod({ namespace, limit, _continue })`. */
export type ListPage<T extends KubernetesObject> = (range: {
  limit: number;
  _continue?: string;
}) => Promise<KubernetesListObject<T>>;

/** What a request accepts for a list of which nothing but the objects' metadata is to leave the API server. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The same for the generated clients. */
export const METADATA_ONLY = setHeaderOptions('Accept', METADATA_LIST);

/** All objects of a list, page by page, as one consistent snapshot like `listSnapshot`. */
export async function listAll<T extends KubernetesObject>(page: ListPage<T>): Promise<T[]> {
  return (await listSnapshot(page)).items;
}

/**
 * A complete list, page by page, with the resourceVersion for a following watch. When a continue token expires (410),
 * the list is restarted, so that the result is one consistent snapshot.
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

/** What is read of a list whose objects are large, or many. */
export interface KeptOfList<T, K> {
  /** Objects per page. */
  readonly pageSize: number;
  /** What is kept of an object; null: nothing. */
  readonly keep: (object: T) => K | null;
  /** How many are kept. */
  readonly most: number;
  /** Sorts what is kept first. */
  readonly compare: (a: K, b: K) => number;
}

/**
 * The first of a list, of which a page at most is ever held as it is.
 *
 * @returns `leftOut`: how many are not among them.
 */
export async function listFirst<T extends KubernetesObject, K>(
  page: ListPage<T>,
  { pageSize, keep, most, compare }: KeptOfList<T, K>,
): Promise<{ readonly items: readonly K[]; readonly leftOut: number }> {
  let items: K[] = [];
  let count = 0;
  const first = (): K[] => items.toSorted(compare).slice(0, most);
  await listSnapshot<T>(async (range) => {
    if (range._continue === undefined) {
      items = [];
      count = 0;
    }
    const answer = await page({ ...range, limit: pageSize });
    for (const object of answer.items) {
      const kept = keep(object);
      if (kept === null) continue;
      items.push(kept);
      count += 1;
    }
    if (items.length > 2 * most) items = first();
    return { ...answer, items: [] };
  });
  items = first();
  return { items, leftOut: count - items.length };
}

async function listOnce<T extends KubernetesObject>(page: ListPage<T>): Promise<KubernetesListObject<T>> {
  const first = await page({ limit: PAGE_SIZE });
  const items = [...first.items];
  // On the last page the token is "" or absent.
  let token = first.metadata?._continue;
  while (token) {
    const answer = await page({ limit: PAGE_SIZE, _continue: token });
    items.push(...answer.items);
    token = answer.metadata?._continue;
  }
  return { ...first, items };
}
