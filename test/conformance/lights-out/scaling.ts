/** The cases of LightsOut about what happens to workloads: each is put into a small cluster, and a plan is applied to it. */
import * as z from 'zod';
import { decide } from '../../../domain/lights-out/decide/decide.ts';
import { evaluate } from '../../../domain/lights-out/workload/evaluate.ts';
import { freshMemory } from '../../../domain/lights-out/decide/memory.ts';
import {
  FINALIZER,
  GROUP,
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  type WorkloadType,
  workloadTypes,
} from '../../../domain/lights-out/schedule/names.ts';
import { batchesOf } from '../../../domain/lights-out/decide/order.ts';
import type { ReadyCondition } from '../../../domain/lights-out/decide/observation.ts';
import type { ScheduleProblem } from '../../../domain/lights-out/schedule/schedule-problem.ts';
import { type Period, periodAt } from '../../../domain/lights-out/schedule/period.ts';
import { type Plan, planSchedule } from '../../../domain/lights-out/decide/plan.ts';
import { scheduleProblems } from '../../../domain/lights-out/schedule/problems.ts';
import { afterBatch } from '../../../domain/lights-out/decide/run.ts';
import { scheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';
import { namespacesInScope } from '../../../domain/lights-out/schedule/scope.ts';
import { labelSelector } from '../../../domain/kernel/label-selector-schema.ts';
import { isEmptySelector, selectorProblems } from '../../../domain/kernel/label-selector.ts';
import { type Workload, workloadName } from '../../../domain/lights-out/workload/workload.ts';
import { itemOf, observationOf, planOf, scheduleOf } from '../../domain/lights-out/observations.ts';
import { contextOf, NIGHT, namespaceOf, otherOf, workloadOf } from '../../domain/lights-out/planned.ts';
import { SmallCluster } from '../../domain/lights-out/small-cluster.ts';
import {
  type Adapter,
  adapter,
  type Comparison,
  NotApplicable,
  NotCompared,
  notApplicable,
  unknownKey,
  UnknownShape,
} from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { keysOf } from '../unknown-keys.ts';
import {
  failureIsShown,
  keepsPods,
  noEmptyBatch,
  noUserNote,
  onlyExisting,
  resumedByUser,
  type ScalerInput,
} from './scaling-deviations.ts';

const SCHEDULE = 'dev-schedule';
const texts = z.record(z.string(), z.string());

const direction = z
  .enum(['upscale', 'downscale', 'up', 'down', 'Up', 'Down'])
  .transform((word): 'Up' | 'Down' => (/^up/i.test(word) ? 'Up' : 'Down'));

const scalerInput = z
  .strictObject({
    direction: direction.optional(),
    scaleUp: z.boolean().optional(),
    schedule: z.string().default(SCHEDULE),
    name: z.string().optional(),
    namespace: z.string().optional(),
    replicas: z.number().optional(),
    suspend: z.boolean().default(false),
    annotations: texts.default({}),
    labels: texts.default({}),
  })
  .transform(({ direction, scaleUp, replicas = 1, ...rest }) => ({
    ...rest,
    // Absent replicas are one, as Kubernetes has it.
    replicas,
    direction: direction ?? (scaleUp === true ? ('Up' as const) : ('Down' as const)),
  }));

/** A workload afterwards, by what a case may ask of it. */
interface Scaled {
  readonly workload: Workload;
  /** Nothing was done that people would call scaling. */
  readonly isSkipped: boolean;
  /** Whether the API server refused one of the writes. */
  readonly isRefused: boolean;
}

/** What the other operator says of a pass beside what it did. */
const OWN_WORDS = 'the words of the other operator; that a workload is skipped is asked by another key';
const OWN_INPUT = 'what the case itself gives: Headroom does not answer with what was there before';

function shownValue({ replicas, isSuspended }: Workload): string {
  return replicas === null ? `${isSuspended}` : `${replicas}`;
}

function scaled(kind: WorkloadType, input: z.infer<typeof scalerInput>): Scaled {
  const { schedule, annotations, labels, replicas, suspend } = input;
  const cluster = new SmallCluster();
  const isCronJob = kind === 'CronJob';
  cluster.put(
    'one',
    workloadOf({ kind, annotations, labels, replicas: isCronJob ? null : replicas, isSuspended: isCronJob && suspend }),
  );
  const before = cluster.get('one');
  const owner = annotations[MANAGED_BY] ?? schedule;
  // A case that names another schedule means one that is there.
  const others = owner === schedule ? [] : [otherOf({ name: owner, isIdle: true })];
  const period = { state: input.direction, since: NIGHT };
  const evaluation = evaluate(before, namespaceOf(), contextOf({ schedule, period, others, completedAt: null }));
  const writes = evaluation.kind === 'change' ? evaluation.writes : [];
  const isRefused = writes.some((write) => !cluster.write('one', write, NIGHT));
  const workload = cluster.get('one');
  const original = isCronJob
    ? annotations[ORIGINAL_SUSPEND] === 'lightsout'
    : annotations[ORIGINAL_REPLICAS] !== undefined;
  const isMarkKept = workload.annotations[isCronJob ? ORIGINAL_SUSPEND : ORIGINAL_REPLICAS] !== undefined;
  const isWoken = original && !isMarkKept;
  return {
    workload,
    isSkipped: shownValue(before) === shownValue(workload) && !isWoken,
    isRefused,
  };
}

const MARKS = [ORIGINAL_REPLICAS, ORIGINAL_SUSPEND, MANAGED_BY];

/** `annotation original-replicas`, `label managed-by removed`, `annotations and label removed`. */
const ABOUT_MARKS = /^(?:and|annotations?|labels?|removed|absent|cleared)$/;

/** What a case asks of the marks of a workload, in its words; undefined where it asks of something else. */
function markAnswer({ annotations, labels }: Workload, key: string): unknown {
  const words = key.split(' ');
  const markOf = (word: string) => MARKS.find((mark) => word === mark || `${GROUP}/${word}` === mark);
  const marks = words.flatMap((word) => markOf(word) ?? []);
  if (!words.every((word) => ABOUT_MARKS.test(word) || markOf(word) !== undefined)) return undefined;
  const [isOfAnnotation, isOfLabel, isGone] = [/^annotation/, /^label/, /^(?:removed|absent|cleared)$/].map((about) =>
    words.some((word) => about.test(word)),
  );
  if (isGone === true) {
    const isIn = (texts: Labels) => (marks.length === 0 ? MARKS : marks).some((mark) => texts[mark] !== undefined);
    const isAny = isOfAnnotation === isOfLabel;
    return !((isAny || isOfAnnotation) && isIn(annotations)) && !((isAny || isOfLabel) && isIn(labels));
  }
  const [mark] = marks;
  return mark === undefined ? undefined : ((isOfLabel === true ? labels : annotations)[mark] ?? null);
}

/** What a case asks of a workload, by the words of its keys. */
function answerOf(
  { workload, isSkipped, isRefused }: Partial<Scaled> & Pick<Scaled, 'workload'>,
  key: string,
  expected: unknown,
): unknown {
  const { annotations, labels, replicas, isSuspended } = workload;
  const ofMarks = markAnswer(workload, key);
  if (ofMarks !== undefined) return ofMarks;
  switch (key) {
    case 'replicas':
    case 'newReplicas':
      return replicas;
    case 'suspend':
    case 'suspended':
    case 'newSuspend':
      return isSuspended;
    case 'newValue':
      return shownValue(workload);
    case 'annotations':
      return withoutMoment(annotations);
    case 'labels':
      return labels;
    case 'previousValue':
    case 'previousReplicas':
    case 'previousSuspend':
      return new NotCompared(OWN_INPUT);
    case 'skipReason':
    case 'reason':
      return new NotCompared(OWN_WORDS);
  }
  if (key === 'skipped' && isSkipped !== undefined) return isSkipped;
  if (key === 'error' && isRefused !== undefined) {
    return typeof expected === 'string' && !isRefused ? '' : isRefused;
  }
  throw unknownKey('expected', key);
}

/** The operator does not note since when something is down. */
function withoutMoment(annotations: Workload['annotations']): Workload['annotations'] {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.endsWith('/down-since')));
}

const isAbsent = (value: unknown) => value === null || value === undefined || value === '' || value === '<none>';

/** Every key that is expected, null and an empty text being the same as nothing. */
const sameAnswers: Comparison = (expected, got) =>
  Object.entries(expected as object).every(([key, value]) => {
    const answer = (got as Readonly<Record<string, unknown>>)[key];
    return (isAbsent(value) && isAbsent(answer)) || sameJson(value, answer);
  });

/** What is expected by keys in words: which of them there are, the answers know. */
const worded = z.record(z.string(), z.unknown());
type Worded = z.infer<typeof worded>;

function answers(expected: Worded, answer: (key: string, value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, answer(key, value)]));
}

function scaler(kind: WorkloadType): Adapter {
  const deviations = kind === 'CronJob' ? [noUserNote, resumedByUser] : [keepsPods];
  return adapter<z.infer<typeof scalerInput> & ScalerInput, Worded>(
    scalerInput,
    worded,
    (input, expected) => {
      const outcome = scaled(kind, input);
      return answers(expected, (key, value) => answerOf(outcome, key, value));
    },
    sameAnswers,
    deviations,
  );
}

const selector = keysOf(labelSelector);
const asSelector = (value: unknown) => {
  if (value === null || value === undefined) return undefined;
  const { data, error } = labelSelector.safeParse(value);
  if (data === undefined) throw new UnknownShape(z.prettifyError(error));
  return data;
};

type Labels = Readonly<Record<string, string>>;

/** Namespaces with their labels: by name, or as a list. */
const clusterInput = z.union([
  z.record(z.string(), z.union([texts, z.strictObject({ labels: texts }).transform(({ labels }) => labels)])),
  z
    .array(z.union([z.string(), z.strictObject({ name: z.string(), labels: texts.optional() })]))
    .transform(
      (list): Readonly<Record<string, Labels>> =>
        Object.fromEntries(
          list.map((namespace) =>
            typeof namespace === 'string' ? [namespace, {}] : [namespace.name, namespace.labels ?? {}],
          ),
        ),
    ),
]);

const discoveryInput = z.strictObject({
  cluster: clusterInput.optional(),
  spec: keysOf(scheduleSpec.pick({ namespaceSelector: true, namespaces: true, excludeNamespaces: true })),
});

const foundNamespaces = z
  .union([
    z.array(z.string()),
    z
      .strictObject({
        namespaces: z.array(z.string()).nullable(),
        error: z.union([z.boolean(), z.string()]).nullable(),
      })
      .partial(),
  ])
  .nullable();

function discovered({ cluster, spec }: z.infer<typeof discoveryInput>): unknown {
  const { namespaces = [], excludeNamespaces = [] } = spec;
  const isReadable = labelSelector.optional().safeParse(spec.namespaceSelector).success;
  const namespaceSelector = isReadable ? asSelector(spec.namespaceSelector) : undefined;
  if (!isReadable || selectorProblems(namespaceSelector, 'spec').length > 0) return { error: true };
  const found: Readonly<Record<string, Labels>> = cluster ?? Object.fromEntries(namespaces.map((name) => [name, {}]));
  return namespacesInScope(
    { namespaces, excludeNamespaces, ...(namespaceSelector && { namespaceSelector }) },
    Object.entries(found).map(([name, labels]) => namespaceOf(name, { labels })),
    [],
  );
}

/** The names alone or under a key, and an error as the operator has it. */
const sameNamespaces: Comparison = (expected, got) => {
  const wanted = foundNamespaces.parse(expected);
  if (wanted === null || Array.isArray(wanted)) return sameJson(wanted ?? [], got);
  return sameJson(wanted.error ? { error: true } : (wanted.namespaces ?? []), got);
};

const { upscaleRateLimit: limit } = scheduleSpec.shape;
const batcherInput = z
  .strictObject({
    workloads: z.union([z.number(), z.array(z.unknown()).transform((list) => list.length)]),
    batchSize: z.number().optional(),
    config: limit,
    rateLimit: limit,
    /** How batches are divided does not depend on it. */
    delayBetweenBatches: limit.unwrap().shape.delayBetweenBatches,
  })
  .transform(({ workloads, batchSize, config, rateLimit }) => ({
    workloads,
    size: batchSize ?? config?.batchSize ?? rateLimit?.batchSize ?? null,
  }));

const crons = { upscale: '0 6 * * *', downscale: '0 18 * * *' };

const state = z.union([
  z.number().transform((replicas) => ({ replicas })),
  z.boolean().transform((suspend) => ({ suspend })),
  z.strictObject({
    name: z.string().optional(),
    replicas: z.number().optional(),
    suspend: z.boolean().optional(),
    labels: texts.optional(),
    annotations: texts.optional(),
  }),
]);
type State = z.infer<typeof state>;
const states = z.union([z.array(state), state.transform((single) => [single])]).optional();

const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const controllerFields = z.strictObject({
  upscale: z.string().default(crons.upscale),
  downscale: z.string().default(crons.downscale),
  timezone: z.string().default('UTC'),
  now: moment.optional(),
  nows: z.array(moment).optional(),
  suspend: z.boolean().optional(),
  workloadTypes: z.array(z.enum(workloadTypes)).optional(),
  excludeLabels: selector.optional(),
  excludeNamespaces: z.array(z.string()).optional(),
  downscaleRateLimit: limit,
  upscaleRateLimit: limit,
  deployment: states,
  deployments: states,
  statefulset: states,
  statefulsets: states,
  cronjob: states,
  cronjobs: states,
  afterwards: z.string().optional(),
});

/** What a case calls `then` happens afterwards: an object with that key would be taken for a promise. */
const controllerInput = z
  .record(z.string(), z.unknown())
  .transform((fields) =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key === 'then' ? 'afterwards' : key, value])),
  )
  .pipe(controllerFields);
type ControllerInput = z.infer<typeof controllerInput>;

/** A schedule over a namespace of workloads, which is looked at until nothing is left to be done. */
class Controller {
  readonly cluster = new SmallCluster();
  readonly keys: string[] = [];
  readonly #input: ControllerInput;
  plan: Plan | null = null;

  constructor(input: ControllerInput) {
    this.#input = input;
    this.#add('Deployment', [...(input.deployment ?? []), ...(input.deployments ?? [])]);
    this.#add('StatefulSet', [...(input.statefulset ?? []), ...(input.statefulsets ?? [])]);
    this.#add('CronJob', [...(input.cronjob ?? []), ...(input.cronjobs ?? [])]);
  }

  #add(kind: WorkloadType, list: readonly State[]): void {
    for (const item of list) {
      const key = `w${this.keys.length}`;
      const { replicas = 1, suspend = false, labels = {}, annotations = {} }: Extract<State, { name?: unknown }> = item;
      const isCronJob = kind === 'CronJob';
      this.cluster.put(
        key,
        workloadOf({
          kind,
          name: key,
          uid: key,
          createdAt: 0,
          labels,
          annotations,
          replicas: isCronJob ? null : replicas,
          isSuspended: isCronJob && suspend,
        }),
      );
      this.keys.push(key);
    }
  }

  spec() {
    const {
      upscale,
      downscale,
      timezone,
      suspend = false,
      workloadTypes: types = [],
      excludeNamespaces = [],
    } = this.#input;
    const excludeLabels = asSelector(this.#input.excludeLabels);
    const { upscaleRateLimit, downscaleRateLimit } = this.#input;
    const limits = { upscaleRateLimit, downscaleRateLimit };
    const parsed = scheduleSpec.parse({ upscale, downscale, timezone, namespaces: ['team-a'], ...limits });
    return { ...parsed, suspend, workloadTypes: types, excludeNamespaces, ...(excludeLabels && { excludeLabels }) };
  }

  get problems(): readonly ScheduleProblem[] {
    return scheduleProblems(this.spec());
  }

  /** Null for an invalid schedule. */
  periodAt(now: number): Period | null {
    return this.problems.length > 0 ? null : periodAt(this.spec(), now);
  }

  get ready(): ReadyCondition | null {
    const { plan, problems } = this;
    const spec = problems.length > 0 ? null : this.spec();
    const schedule = scheduleOf({ spec, problems });
    const observeInput = observationOf(
      spec === null ? { schedule, period: null, inEffect: null, plan: null } : { schedule, plan },
    );
    return decide(observeInput, freshMemory)[1].ready;
  }

  /** @throws {Error} where looks never come to an end. */
  settle(now: number, isRestoringAll: boolean): void {
    const spec = this.spec();
    for (let passes = 0; passes < 5; passes += 1) {
      const { state: periodState = 'Up', since = null } = this.periodAt(now) ?? {};
      // An invalid schedule touches nothing, and wakes what it put to sleep when it is deleted.
      if (this.problems.length > 0 && !isRestoringAll) return;
      const period = { state: periodState, since };
      const context = contextOf({
        schedule: SCHEDULE,
        createdAt: 0,
        spec,
        now,
        period,
        isRestoringAll,
        completedAt: null,
      });
      this.plan = planSchedule({
        context,
        namespaces: [namespaceOf()],
        workloads: [...this.cluster.workloads.values()],
      });
      if (this.plan.items.length === 0) return;
      for (const { workload } of this.plan.items) {
        const evaluation = evaluate(this.cluster.get(workload.name), namespaceOf(), context);
        if (evaluation.kind === 'keep') continue;
        for (const write of evaluation.writes) this.cluster.write(workload.name, write, now);
      }
    }
    throw new Error('there is always something left to be done');
  }
}

const OWN_PACE = 'the pace of the other operator; Headroom sleeps until the next transition';
const SIX_AND_SIX = Date.parse('2024-01-15T10:00:00Z');

function controlled(input: ControllerInput, expected: Worded): unknown {
  const controller = new Controller(input);
  const moments = input.nows ?? [input.now ?? SIX_AND_SIX];
  const history = moments.map((now) => {
    controller.settle(now, false);
    return controller.keys.map((key) => controller.cluster.get(key));
  });
  const last = moments.at(-1) ?? SIX_AND_SIX;
  const isDeleted = /\bdelet\w* (?:the )?schedule|schedule (?:is )?deleted/i.test(input.afterwards ?? '');
  if (isDeleted) {
    controller.settle(last, true);
  } else if (/^delete (?:the )?(?:deployment|statefulset|cronjob)/i.test(input.afterwards ?? '')) {
    controller.cluster.remove(controller.keys[0] ?? '');
    controller.settle(last, false);
  } else if (input.afterwards !== undefined && !/reconcile/i.test(input.afterwards)) {
    throw new NotApplicable(`no adapter reads what happens then: ${input.afterwards}`);
  }
  const after = controller.keys.flatMap((key) => controller.cluster.workloads.get(key) ?? []);
  const stateAt = (now: number) => controller.periodAt(now)?.state ?? 'Unknown';
  const period = controller.periodAt(last);
  const stats: Readonly<Record<string, number>> = controller.plan?.stats ?? {};
  return answers(expected, (key, value) => {
    const of = (workload: Workload, what = key) =>
      what === 'state' ? stateAt(last) : answerOf({ workload }, what, value);
    if (key === 'error') return controller.problems.length > 0;
    if (key === 'namespaces') return controller.plan?.namespaces;
    if (key === 'state') return moments.length > 1 && Array.isArray(value) ? moments.map(stateAt) : stateAt(last);
    if (key === 'nextUpscaleTime') return momentAs(value, period?.nextUpscale);
    if (key === 'nextDownscaleTime') return momentAs(value, period?.nextDownscale);
    if (key === 'Ready' || key === 'conditions[Ready]') return controller.ready?.status;
    if (key === 'workloadStats')
      return answers(worded.parse(value), (name) => {
        if (name in stats) return stats[name];
        throw unknownKey('expected', `${key}.${name}`);
      });
    if (key in stats) return stats[key];
    if (key === 'finalizer') return isDeleted ? finalizerAfterDeletion(controller.plan) : finalizerOf();
    if (key === 'requeueAfter') return new NotCompared(OWN_PACE);
    if (Array.isArray(value) && moments.length > 1)
      return history.flatMap(([first]) => (first === undefined ? [] : [of(first)]));
    if (Array.isArray(value)) return after.map((written) => of(written));
    const [first] = after;
    if (first === undefined) throw unknownKey('expected', key);
    return of(first);
  });
}

/** A moment in the words of a case, where it is the same one. */
function momentAs(value: unknown, at: number | null | undefined): unknown {
  if (at === null || at === undefined) return null;
  return typeof value === 'string' && Date.parse(value) === at ? value : new Date(at).toISOString();
}

/** What goes onto a schedule at its first look, before anything is written. */
function finalizerOf(): string | null {
  const observeInput = observationOf({ schedule: scheduleOf({ hasFinalizer: false }), plan: planOf([itemOf('web')]) });
  const [, verdict] = decide(observeInput, freshMemory);
  return verdict.kind === 'finalizer' && verdict.isPresent ? FINALIZER : null;
}

/** What becomes of the finalizer of a schedule that is being deleted, after what is left of the plan. */
function finalizerAfterDeletion(plan: Plan | null): string {
  const observeInput = observationOf({ schedule: scheduleOf({ isDeleting: true }), plan });
  const [, verdict] = decide(observeInput, freshMemory);
  return verdict.kind === 'finalizer' && !verdict.isPresent ? 'removed' : FINALIZER;
}

/** What is said of a schedule after workloads could not be written, and when that is tried again; why, for each of them. */
function afterFailures(details: readonly string[]): { readonly Ready: string; readonly requeue: string } {
  const items = details.map((_, index) => itemOf(`web-${index}`));
  const observeInput = observationOf({ plan: planOf(items) });
  const outcomes = items.map(
    ({ workload }, index) =>
      ({ workload: workloadName(workload), kind: 'failed', detail: details[index] ?? '' }) as const,
  );
  const memory = afterBatch(freshMemory, items, outcomes, { now: observeInput.at, timings: observeInput.timings });
  const [, verdict] = decide(observeInput, memory);
  const isRetried = verdict.kind === 'wait' && verdict.until === observeInput.at + observeInput.timings.retryMin;
  return { Ready: verdict.ready?.status ?? 'none', requeue: isRetried ? 'retry' : verdict.kind };
}

const absentReplicas = z.strictObject({
  'spec.replicas': z.literal('absent'),
  direction,
  kind: z.enum(workloadTypes).optional(),
});
const absentSuspend = z.strictObject({ 'spec.suspend': z.literal('absent'), direction });

const COUNTS = ['no', 'one', 'two', 'three', 'four', 'five'];
/** `one update conflicts (409)`, `two updates fail (403)`. */
const FAILURES =
  /^(one|two|three|four|five) (?:updates?|patch(?:es)?|writes?) ((?:conflicts?|fails?)(?: \([0-9]{3}\))?)$/;
const failures = z.record(z.string().regex(FAILURES), z.literal(true)).transform((words) =>
  Object.keys(words).flatMap((sentence) => {
    const [, count = 'no', detail = ''] = FAILURES.exec(sentence) ?? [];
    return Array.from({ length: COUNTS.indexOf(count) }, () => detail);
  }),
);

const unwritten = adapter(
  failures,
  z.strictObject({ Ready: z.string(), requeue: z.string() }).partial(),
  afterFailures,
  sameExpectedKeys,
  [failureIsShown],
);

/** Cases in prose: what the operator's code was read to do. Those that no adapter can put to Headroom are named, each. */
const codeReading: Adapter = (testCase) => {
  const absent = absentReplicas.safeParse(testCase.input);
  if (absent.success) {
    const { direction: towards, kind = 'Deployment' } = absent.data;
    return scaler(kind)({ ...testCase, input: { direction: towards } });
  }
  const unsaid = absentSuspend.safeParse(testCase.input);
  if (unsaid.success) return scaler('CronJob')({ ...testCase, input: { direction: unsaid.data.direction } });
  if (failures.safeParse(testCase.input).success) return unwritten(testCase);
  throw new NotApplicable(`no adapter reads this prose: ${JSON.stringify(testCase.input)}`);
};

export const lightsOutScalingKinds: Readonly<Record<string, Adapter>> = {
  'scaler-deployment': scaler('Deployment'),
  'scaler-statefulset': scaler('StatefulSet'),
  'scaler-cronjob': scaler('CronJob'),
  'namespace-discovery': adapter(discoveryInput, foundNamespaces, discovered, sameNamespaces, [onlyExisting]),
  'selector-empty': adapter(
    z.union([
      z.null(),
      z.strictObject({ selector: selector.nullish() }).transform(({ selector: inner }) => inner ?? null),
      selector,
    ]),
    z.boolean(),
    (input) => isEmptySelector(asSelector(input)),
    sameJson,
  ),
  'selector-equal': notApplicable('Headroom compares no selectors: it asks each what it selects'),
  batcher: adapter(
    batcherInput,
    worded,
    ({ workloads, size }, expected) => {
      const sizes = batchesOf(Array.from({ length: workloads }), size).map((batch) => batch.length);
      return answers(expected, (key) => {
        if (/^batch(?:Sizes)?$|^sizes$/.test(key)) return sizes;
        if (/^(?:batches|batchCount|count|numBatches)$/.test(key)) return sizes.length;
        throw unknownKey('expected', key);
      });
    },
    sameJson,
    [noEmptyBatch],
  ),
  controller: adapter(controllerInput, worded, controlled, sameAnswers),
  'code-reading': codeReading,
  e2e: notApplicable('a whole cluster, which the integration tests of lights-out start'),
};
