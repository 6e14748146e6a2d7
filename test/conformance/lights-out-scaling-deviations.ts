/**
 * The rules by which Headroom differs from the operator that the lights-out cases were taken from, as far as they are about
 * what happens to a workload. Each states its own expectation. The reasons: test/cases/deviations.md.
 */
import type { Deviation } from './adapter.ts';

type Answers = Readonly<Record<string, unknown>>;

export interface ScalerInput {
  readonly direction: 'Up' | 'Down';
  readonly schedule: string;
  readonly replicas: number;
  readonly suspend: boolean;
  readonly annotations: Readonly<Record<string, string>>;
}

const PREFIX = 'lightsout.techsupport.mk/';

function markOf({ annotations }: ScalerInput, key: string): string {
  return annotations[PREFIX + key] ?? '';
}

/** Whether another schedule put it down: the operator and Headroom both leave it. */
function isAnothers(input: ScalerInput): boolean {
  return !['', input.schedule].includes(markOf(input, 'managed-by'));
}

/** What a case expects, with other answers for the keys that speak of the same. */
function withAnswers(expected: unknown, answers: Readonly<Record<string, unknown>>): Answers {
  const entries = Object.entries(expected as Answers).map(([key, value]): [string, unknown] => {
    const about = Object.keys(answers).find((one) => key.includes(one) && !key.includes(`original-${one}`));
    return [key, about === undefined ? value : answers[about]];
  });
  return Object.fromEntries(entries);
}

/** The operator notes that a user suspended a CronJob, and keeps that note for ever; Headroom never writes it, and takes it off by day. */
export const noUserNote: Deviation<ScalerInput> = {
  name: 'no-user-note',
  applies: (input, expected) =>
    !isAnothers(input) &&
    (input.direction === 'Up' ? ['', 'user'] : ['']).includes(markOf(input, 'original-suspend')) &&
    Object.entries(expected as Answers).some(([key, value]) => key.includes('original-suspend') && value === 'user'),
  expected: (_, expected) => withAnswers(expected, { 'original-suspend': null, 'managed-by': null }),
};

/** The operator never suspends again what it noted as suspended by a user, although the user resumed it since. */
export const resumedByUser: Deviation<ScalerInput> = {
  name: 'resumed-by-user',
  applies: (input) =>
    input.direction === 'Down' && !input.suspend && !isAnothers(input) && markOf(input, 'original-suspend') === 'user',
  expected: ({ schedule }, expected) =>
    withAnswers(expected, {
      'original-suspend': 'lightsout',
      suspend: true,
      skipped: false,
      'managed-by': schedule,
    }),
};

/** The operator takes pods away in the morning from what a person gave more of them in the night. */
export const keepsPods: Deviation<ScalerInput> = {
  name: 'keeps-pods',
  applies: (input) => {
    const original = markOf(input, 'original-replicas');
    const before = /^[0-9]+$/.test(original) ? Number(original) : 1;
    return input.direction === 'Up' && !isAnothers(input) && original !== '' && input.replicas > before;
  },
  expected: ({ replicas }, expected) =>
    withAnswers(expected, { replicas, newReplicas: replicas, newValue: `${replicas}` }),
};

interface DiscoveryInput {
  readonly cluster?: object | undefined;
}

/** The operator reports namespaces that are named and do not exist. */
export const onlyExisting: Deviation<DiscoveryInput> = {
  name: 'only-existing',
  applies: ({ cluster }, expected) =>
    cluster !== undefined && Array.isArray(expected) && expected.some((name: string) => !(name in cluster)),
  expected: ({ cluster = {} }, expected) => (expected as string[]).filter((name) => name in cluster),
};

interface SelectorPair {
  readonly a?: object | undefined;
  readonly b?: object | undefined;
}

/** A selector with its parts in one order, whatever order they came in, and without those that say nothing. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(ordered(one))).toSorted();
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, part]) => typeof part !== 'object' || Object.keys(part ?? {}).length > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => [key, ordered(part)]);
}

/** The operator compares requirements in the order in which they are written, and a label that is missing as an empty one. */
export const sameInAnyOrder: Deviation<SelectorPair> = {
  name: 'selector-in-any-order',
  applies: ({ a, b }, expected) => {
    if (a === undefined || b === undefined) return false;
    return (JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))) !== expected;
  },
  expected: (_, expected) => expected === false,
};

/** The operator only counts what failed: it says Ready, and tries again at the next transition. */
export const failureIsShown: Deviation<unknown> = {
  name: 'failure-is-shown',
  applies: () => true,
  expected: (_, expected) => withAnswers(expected, { Ready: 'False', requeue: 'retry' }),
};
