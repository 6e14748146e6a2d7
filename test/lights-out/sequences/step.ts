/** What may happen to a sequence's own few namespaces, as data: it is made before anything runs. */
import type { Random } from '../../chaos/random.ts';

/** The two schedules of a sequence: one by a label, with rules of exclusion, and one by names. */
export const SCHEDULES = ['a', 'b'] as const;
export type ScheduleName = (typeof SCHEDULES)[number];

export const NAMESPACES = ['x', 'y', 'z'] as const;
export type NamespaceName = (typeof NAMESPACES)[number];

export type Kind = 'Deployment' | 'StatefulSet' | 'CronJob';

/** What a workload is at first, and in Git: replicas; of a CronJob 1 where it runs and 0 where it is suspended. */
export interface Original {
  readonly kind: Kind;
  readonly namespace: NamespaceName;
  readonly name: string;
  readonly value: number;
}

export const WORKLOADS: Readonly<Record<string, Original>> = Object.fromEntries(
  (
    [
      ['Deployment', 'x', 'web', 3],
      ['StatefulSet', 'x', 'db', 2],
      ['CronJob', 'x', 'job', 1],
      // Its user suspended it.
      ['CronJob', 'x', 'off', 0],
      ['Deployment', 'y', 'web', 2],
      ['Deployment', 'y', 'idle', 0],
      ['StatefulSet', 'y', 'db', 1],
      ['Deployment', 'z', 'web', 1],
      ['CronJob', 'z', 'job', 1],
    ] as const
  ).map(([kind, namespace, name, value]) => [`${namespace}/${name}`, { kind, namespace, name, value }]),
);

export type Maker = 'person' | 'gitops';

export type Action =
  /** The crons are edited, so that it is the other half of the day. */
  | { readonly what: 'turn'; readonly schedule: ScheduleName }
  | {
      readonly what: 'wake' | 'sleep' | 'cancel';
      readonly schedule: ScheduleName;
      /** Null: everywhere. */
      readonly namespace: NamespaceName | null;
    }
  /** A person's; of a CronJob, to suspend it (0) or to resume it. `kubectl scale` leaves no moment, an edit does. */
  | { readonly what: 'set'; readonly key: string; readonly value: number; readonly how: 'scale' | 'edit' }
  /** Git's value is applied, whatever the object has. */
  | { readonly what: 'sync'; readonly key: string }
  /** A new image, by whoever created the workload. */
  | { readonly what: 'rollout'; readonly key: string }
  | { readonly what: 'create'; readonly key: string; readonly by: Maker }
  | { readonly what: 'remove'; readonly key: string }
  /** On or off: the label by which the first schedule selects a namespace. */
  | { readonly what: 'label'; readonly namespace: NamespaceName }
  /** On or off: only StatefulSets and CronJobs. */
  | { readonly what: 'types'; readonly schedule: ScheduleName }
  | { readonly what: 'exclude'; readonly schedule: ScheduleName; readonly namespace: NamespaceName }
  /** On or off: the label that the first schedule excludes. */
  | { readonly what: 'spare'; readonly key: string }
  /** On or off: the annotation by which every schedule leaves it alone. */
  | { readonly what: 'leave'; readonly key: string }
  | { readonly what: 'keep'; readonly schedule: ScheduleName; readonly replicas: number }
  | { readonly what: 'suspend'; readonly schedule: ScheduleName }
  | { readonly what: 'make'; readonly schedule: ScheduleName; readonly state: 'Up' | 'Down' }
  | { readonly what: 'delete'; readonly schedule: ScheduleName }
  /** Deleted, with the finalizer taken off by force. */
  | { readonly what: 'vanish'; readonly schedule: ScheduleName };

/**
 * `workerAway` and `starterAway`: killed before the actions and started after them. `workerMidway`: killed after the first
 * write that the action leads to. `apiServer`: killed and started while the action is worked on.
 */
type Fault = 'workerAway' | 'starterAway' | 'workerMidway' | 'apiServer';

export interface Step {
  /** One after the other, with nothing awaited in between; more than one only where a process is away. */
  readonly actions: readonly Action[];
  readonly fault: Fault | null;
  /** Nobody asks for a look: what is to be done is found by itself. */
  readonly isAlone: boolean;
}

const VALUES = [0, 1, 2, 4] as const;

/** What there is to be done, and how often one is chosen among the others. */
const MAKERS: readonly (readonly [weight: number, make: (random: Random) => Action])[] = [
  [10, (random) => ({ what: 'turn', schedule: schedule(random) })],
  [
    8,
    (random) => ({
      what: 'set',
      key: key(random),
      value: random.pick(VALUES),
      how: random.pick(['scale', 'edit'] as const),
    }),
  ],
  [4, (random) => ({ what: 'sync', key: key(random) })],
  [
    4,
    (random) => ({
      what: random.pick(['wake', 'sleep', 'cancel'] as const),
      schedule: schedule(random),
      namespace: random.pick([null, null, ...NAMESPACES]),
    }),
  ],
  [2, (random) => ({ what: 'create', key: key(random), by: random.pick(['person', 'gitops'] as const) })],
  [2, (random) => ({ what: 'remove', key: key(random) })],
  [2, (random) => ({ what: 'label', namespace: namespace(random) })],
  [2, (random) => ({ what: 'make', schedule: schedule(random), state: random.pick(['Up', 'Down'] as const) })],
  [1, (random) => ({ what: 'rollout', key: key(random) })],
  [1, (random) => ({ what: 'types', schedule: schedule(random) })],
  [1, (random) => ({ what: 'exclude', schedule: schedule(random), namespace: namespace(random) })],
  [1, (random) => ({ what: 'spare', key: key(random) })],
  [1, (random) => ({ what: 'leave', key: key(random) })],
  [1, (random) => ({ what: 'keep', schedule: schedule(random), replicas: random.pick([0, 0, 1, 2]) })],
  [1, (random) => ({ what: 'suspend', schedule: schedule(random) })],
  [1, (random) => ({ what: 'delete', schedule: schedule(random) })],
  [1, (random) => ({ what: 'vanish', schedule: schedule(random) })],
];

/** The first schedule selects more, and is what most things happen to. */
function schedule(random: Random): ScheduleName {
  return random.pick(['a', 'a', 'b'] as const);
}

function namespace(random: Random): NamespaceName {
  return random.pick(NAMESPACES);
}

function key(random: Random): string {
  return random.pick(Object.keys(WORKLOADS));
}

/** One process fault in four steps; the API server, which everything waits for, seldom. */
const FAULTS: readonly (readonly [weight: number, fault: Fault | null])[] = [
  [30, null],
  [3, 'workerAway'],
  [3, 'workerMidway'],
  [3, 'starterAway'],
  [1, 'apiServer'],
];

function weighted<T>(random: Random, choices: readonly (readonly [weight: number, one: T])[]): T {
  return random.pick(choices.flatMap(([weight, choice]) => Array.from({ length: weight }, () => choice)));
}

/**
 * The steps of a sequence, without an end: the same every time. Some cannot be when their turn comes, such as to delete what is
 * not there.
 */
export function* makeSteps(random: Random): Generator<Step, never> {
  for (const schedule of random.next() < 0.5 ? SCHEDULES : (['a'] as const)) {
    const state = random.pick(['Up', 'Down'] as const);
    yield { actions: [{ what: 'make', schedule, state }], fault: null, isAlone: true };
  }
  for (;;) {
    const fault = weighted(random, FAULTS);
    const isAway = fault === 'workerAway' || fault === 'starterAway';
    const number = isAway ? random.between(1, 3) : 1;
    yield {
      actions: Array.from({ length: number }, () => weighted(random, MAKERS)(random)),
      fault,
      isAlone: random.next() < 0.3,
    };
  }
}

/** `turn a`, `set x/web 4 scale; sync x/db [workerAway]`. */
export function inWords({ actions, fault, isAlone }: Step): string {
  const lines = actions.map((action) =>
    Object.values(action)
      .map((value) => value ?? 'everywhere')
      .join(' '),
  );
  return `${lines.join('; ')}${fault === null ? '' : ` [${fault}]`}${isAlone ? '' : ' (asked to look)'}`;
}
