/** What `--what-if` asks: usage or replicas that are not there yet. */
import { InvalidArgumentError } from 'commander';
import { formatQuantity, isQuantity, parseQuantity } from '../../../../domain/kernel/quantity.ts';
import type { ResourceList } from '../../../../domain/kernel/resource-list.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { CommandFailed } from '../../shared.ts';

const scalableKinds = ['Deployment', 'StatefulSet', 'ReplicaSet'] as const;
export type ScalableKind = (typeof scalableKinds)[number];

/** A workload as the user names it, with the replicas that it would have. */
export interface WantedReplicas {
  /** Absent where the name alone tells it. */
  readonly kind?: ScalableKind;
  readonly name: string;
  readonly count: number;
}

export interface WhatIf {
  /** Takes the place of what the quota says is used. */
  readonly used: ResourceList;
  readonly replicas: readonly WantedReplicas[];
}

export const nothingElse: WhatIf = { used: {}, replicas: [] };

const FORMS =
  'write <resource>=<quantity> for what would be used, such as requests.cpu=12, or replicas=<workload>=<n>, such as replicas=web=10 or replicas=statefulset/db=3';

/** More is a slip of the finger, and nothing that a namespace holds. */
const MAX_REPLICAS = 1_000_000;

/**
 * Adds one `--what-if` to those before it.
 *
 * @throws {InvalidArgumentError} with the forms that are right.
 */
export function readWhatIf(text: string, before: WhatIf = nothingElse): WhatIf {
  const equals = text.indexOf('=');
  const subject = text.slice(0, Math.max(0, equals));
  const value = text.slice(equals + 1);
  if (subject === '') throw new InvalidArgumentError(`"${text}" asks nothing: ${FORMS}`);
  if (subject === 'replicas') return { ...before, replicas: [...before.replicas, readReplicas(text, value)] };
  if (Object.hasOwn(before.used, subject)) throw new InvalidArgumentError(`${subject} is given twice`);
  if (!isQuantity(value) || parseQuantity(value).nano < 0n) {
    throw new InvalidArgumentError(`"${value}" is not a quantity, such as 12, 500m or 16Gi: ${FORMS}`);
  }
  return { ...before, used: { ...before.used, [subject]: formatQuantity(parseQuantity(value)) } };
}

function readReplicas(text: string, value: string): WantedReplicas {
  const [, prefix, name = '', digits = ''] = /^(?:([A-Za-z]+)\/)?([^/=]+)=([0-9]{1,9})$/.exec(value) ?? [];
  const count = digits === '' ? Number.NaN : Number(digits);
  if (!(count <= MAX_REPLICAS))
    throw new InvalidArgumentError(`"${text}" names no workload and its replicas: ${FORMS}`);
  if (prefix === undefined) return { name, count };
  const kind = scalableKinds.find((existing) => existing.toLowerCase() === prefix.toLowerCase());
  if (kind === undefined) {
    const why =
      prefix.toLowerCase() === 'daemonset'
        ? 'a DaemonSet has a pod on each of its nodes and no replicas'
        : `"${prefix}" is not a kind that has replicas`;
    throw new InvalidArgumentError(`${why}: write deployment, statefulset or replicaset`);
  }
  return { kind, name, count };
}

/**
 * The observation with other usage. Assumed usage contradicts nothing and is not counted.
 *
 * @throws {CommandFailed} for a resource that the quota has no limit for.
 */
export function withUsage(observation: QuotaObservation, used: ResourceList): QuotaObservation {
  const { quota } = observation;
  if (quota === null) return observation;
  for (const resource of Object.keys(used)) {
    if (Object.hasOwn(quota.hard, resource)) continue;
    const limited = Object.keys(quota.hard).toSorted().join(', ');
    throw new CommandFailed(
      `the quota has no limit for ${resource}: ${limited === '' ? 'it has none at all' : `it limits ${limited}`}`,
    );
  }
  return {
    ...observation,
    quota: { ...quota, used: { ...quota.used, ...used } },
    contradictions: observation.contradictions.filter(({ resource }) => !Object.hasOwn(used, resource)),
    ...(observation.counting?.kind === 'counted' ? { counting: withoutResources(observation.counting, used) } : {}),
  };
}

type Counted = Extract<QuotaObservation['counting'], { readonly kind: 'counted' }>;

function withoutResources({ kind, differences, unmeasured }: Counted, used: ResourceList): Counted {
  const isLeft = (resource: string): boolean => !Object.hasOwn(used, resource);
  return {
    kind,
    differences: differences.filter(({ resource }) => isLeft(resource)),
    unmeasured: unmeasured
      .map(({ keys, reason }) => ({ keys: keys.filter(isLeft), reason }))
      .filter(({ keys }) => keys.length > 0),
  };
}
