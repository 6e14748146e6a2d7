/**
 * The rules by which Headroom differs from the operator that the lights-out cases were taken from, as far as they are about
 * what happens to a workload. Each states its own expectation. The reasons: test/cases/deviations.md.
 */
import type { Deviation } from '../adapter.ts';

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

/** Whether another schedule put it to sleep: the operator and Headroom both leave it. */
function isAnothers(input: ScalerInput): boolean {
  return !['', input.schedule].includes(markOf(input, 'managed-by'));
}

/** What a case expects, with other answers for the keys that speak of the same. */
function withAnswers(expected: unknown, answers: Readonly<Record<string, unknown>>): Answers {
  const entries = Object.entries(expected as Answers).map(([key, value]): [string, unknown] => {
    const about = Object.keys(answers).find(
      (annotation) => key.includes(annotation) && !key.includes(`original-${annotation}`),
    );
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

interface BatcherInput {
  readonly workloads: number;
}

/** The operator has one batch of nothing where there is nothing to be done. */
export const noEmptyBatch: Deviation<BatcherInput> = {
  name: 'no-empty-batch',
  applies: ({ workloads }, expected) =>
    workloads === 0 && Object.values(expected as Answers).some((value) => ['1', '[0]'].includes(JSON.stringify(value))),
  expected: (_, expected) =>
    Object.fromEntries(Object.entries(expected as Answers).map(([key, value]) => [key, Array.isArray(value) ? [] : 0])),
};

/** The operator only counts what failed: it says Ready, and tries again at the next transition. */
export const failureIsShown: Deviation<unknown> = {
  name: 'failure-is-shown',
  applies: (_, expected) => (expected as Answers)['Ready'] === 'True',
  expected: (_, expected) => withAnswers(expected, { Ready: 'False', requeue: 'retry' }),
};
