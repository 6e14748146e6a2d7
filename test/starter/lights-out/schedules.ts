import type { KubernetesObject } from '@kubernetes/client-node';
import { GROUP, KIND, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import type { ScheduleStatus } from '../../../domain/lights-out/schedule/schedule.ts';
import type { ScopedNamespace, Workload } from '../../../domain/lights-out/workload/workload.ts';
import type { WatchedSchedule } from '../../../starter/lights-out/schedule-registry.ts';
import { shapeSchedule } from '../../../starter/lights-out/shape.ts';

const DAY_MS = 86_400_000;

/** Fires at 00:00 UTC of the day so many days ago, and not again for most of a year. */
function firedDaysAgo(days: number): string {
  const then = new Date(Date.now() - days * DAY_MS);
  return `0 0 ${then.getUTCDate()} ${then.getUTCMonth() + 1} *`;
}

/** Down since yesterday, and for months from now on. */
export const asleep = { upscale: firedDaysAgo(10), downscale: firedDaysAgo(1) } as const;
/** Up since yesterday, and for months from now on. */
export const awake = { upscale: firedDaysAgo(1), downscale: firedDaysAgo(10) } as const;

export function scheduleOf(
  name: string,
  spec: Readonly<Record<string, unknown>>,
): KubernetesObject & { spec: Readonly<Record<string, unknown>> } {
  return { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name }, spec };
}

interface Metadata {
  readonly uid?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A schedule as the cache of the starter has it, created in 2020 unless said otherwise. */
export function scheduleAs(
  name: string,
  spec: Readonly<Record<string, unknown>>,
  { status = {}, metadata = {} }: { readonly status?: ScheduleStatus; readonly metadata?: Metadata } = {},
): WatchedSchedule {
  const plain = {
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2020-01-01T00:00:00Z',
      ...metadata,
    },
    spec,
    status,
  };
  // In an object as it is sent, a moment is text.
  const { read } = shapeSchedule(plain as unknown as KubernetesObject);
  if (read === undefined) throw new Error(`${name} cannot be read`);
  return read;
}

export function workloadAs(name: string, more: Partial<Workload> = {}): Workload {
  return {
    kind: 'Deployment',
    namespace: 'team-a',
    name,
    uid: name,
    resourceVersion: '1',
    createdAt: Date.parse('2020-01-01T00:00:00Z'),
    isDeleting: false,
    labels: { app: name },
    annotations: {},
    replicas: 2,
    isSuspended: false,
    ready: 2,
    present: 2,
    changed: null,
    createdBy: 'kubectl',
    autoscalers: [],
    ...more,
  };
}

export function namespaceAs(name: string, labels: Readonly<Record<string, string>> = {}): ScopedNamespace {
  return { name, labels, annotations: {}, isDeleting: false };
}
