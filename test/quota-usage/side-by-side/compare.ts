/** Whether two clusters say the same of every quota, by amount and not by spelling; and what differs, for people. */
import { parseQuantity } from '../../../domain/kernel/quantity.ts';
import type { Api, ApiObject } from './api.ts';

/** A quota's numbers by its name and place: `team-a/compute`. */
export type Statuses = ReadonlyMap<string, Numbers>;

interface Numbers {
  readonly spec: Readonly<Record<string, string>>;
  readonly hard: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
}

/**
 * Every quota of a cluster.
 *
 * @throws Error when the server does not answer.
 */
export async function readStatuses(api: Api): Promise<Statuses> {
  const answer = await api.ask('GET', '/api/v1/resourcequotas');
  if (answer.code !== 200) throw new Error(`quotas cannot be listed: ${answer.code} ${answer.message}`);
  return new Map(
    (answer.object.items ?? []).map(({ metadata, spec, status }) => [
      `${metadata?.namespace}/${metadata?.name}`,
      { spec: spec?.hard ?? {}, hard: status?.hard ?? {}, used: status?.used ?? {} },
    ]),
  );
}

/** A number, or a whole quota, that is not the same in two clusters. */
export interface Difference {
  /** `a/compute: used pods`: the same for as long as it differs. */
  readonly what: string;
  /** What each says; null for a quota that it does not have, or whose limits are not those of its spec. */
  readonly says: readonly [here: string | null, there: string | null];
  /** `a/compute: used pods: 4 here, 5 there`. */
  readonly text: string;
}

/** What is not the same, in the order of the quotas. Empty when all is. */
export function differences(
  [here, ours]: readonly [name: string, Statuses],
  [there, theirs]: readonly [name: string, Statuses],
): Difference[] {
  const found: Difference[] = [];
  const add = (what: string, says: Difference['says'], text: string): void =>
    void found.push({ what, says, text: `${what}: ${text}` });
  for (const key of union(ours.keys(), theirs.keys())) {
    const [mine, other] = [ours.get(key), theirs.get(key)];
    if (mine === undefined || other === undefined) {
      const says = [mine === undefined ? null : 'it', other === undefined ? null : 'it'] as const;
      add(key, says, `only in ${mine === undefined ? there : here}`);
      continue;
    }
    for (const part of ['hard', 'used'] as const) {
      for (const resource of union(Object.keys(mine[part]), Object.keys(other[part]))) {
        const [a = 'nothing', b = 'nothing'] = [mine[part][resource], other[part][resource]];
        if (!isSameAmount(a, b)) add(`${key}: ${part} ${resource}`, [a, b], `${a} in ${here}, ${b} in ${there}`);
      }
    }
    if (!isSameList(mine.spec, mine.hard))
      add(key, [null, 'it'], `the status of ${here} has other limits than its spec`);
  }
  return found;
}

/** Whether two readings of one cluster say exactly the same. */
export function isUnchanged(before: Statuses | null, after: Statuses): boolean {
  return before !== null && JSON.stringify([...before]) === JSON.stringify([...after]);
}

function isSameList(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return union(Object.keys(a), Object.keys(b)).every((key) => isSameAmount(a[key], b[key]));
}

function isSameAmount(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  const isAmount = (text: string | undefined): text is string => text !== undefined && text !== 'nothing';
  return isAmount(a) && isAmount(b) && parseQuantity(a).nano === parseQuantity(b).nano;
}

function union(a: Iterable<string>, b: Iterable<string>): string[] {
  return [...new Set([...a, ...b])].toSorted();
}

/** What is compared of a namespace's objects to tell a wrong count from two clusters that hold different things. */
const INVENTORY = [
  '/api/v1/namespaces/NAMESPACE/pods',
  '/api/v1/namespaces/NAMESPACE/services',
  '/api/v1/namespaces/NAMESPACE/persistentvolumeclaims',
  '/api/v1/namespaces/NAMESPACE/configmaps',
  '/api/v1/namespaces/NAMESPACE/secrets',
  '/api/v1/namespaces/NAMESPACE/serviceaccounts',
  '/api/v1/namespaces/NAMESPACE/replicationcontrollers',
  '/apis/apps/v1/namespaces/NAMESPACE/deployments',
  '/apis/apps/v1/namespaces/NAMESPACE/replicasets',
  '/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices',
  '/apis/resource.k8s.io/v1/namespaces/NAMESPACE/resourceclaims',
] as const;

/** The objects that only one of two clusters has in a namespace, in words; empty when they hold the same. */
export async function inventoryDifferences(
  namespace: string,
  [here, ours]: readonly [name: string, Api],
  [there, theirs]: readonly [name: string, Api],
): Promise<string[]> {
  const lines: string[] = [];
  for (const template of INVENTORY) {
    const path = template.replace('NAMESPACE', namespace);
    const [mine, other] = await Promise.all([inventory(ours, path), inventory(theirs, path)]);
    for (const key of union(mine.keys(), other.keys())) {
      const [a, b] = [mine.get(key) ?? 0, other.get(key) ?? 0];
      if (a !== b) lines.push(`${path}: ${key}: ${a} in ${here}, ${b} in ${there}`);
    }
  }
  return lines;
}

async function inventory(api: Api, path: string): Promise<Map<string, number>> {
  const answer = await api.ask('GET', path);
  const counts = new Map<string, number>();
  for (const object of answer.object.items ?? []) {
    const key = described(object);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** What controllers make has a name of chance: it is known by its owner. */
function described({ metadata, status }: ApiObject): string {
  const owner = metadata?.ownerReferences?.[0];
  // A ReplicaSet's own name ends in a hash of its template; a pod's owner is such a one.
  const name = owner === undefined ? metadata?.name : `one of ${owner.kind} ${owner.name}`;
  const phase = status?.phase === undefined ? '' : `, ${status.phase}`;
  return `${name}${phase}${metadata?.deletionTimestamp === undefined ? '' : ', being deleted'}`;
}
