/** What the recorded histories of a workflow must show, keyed by the types that the product itself is written with. */
import { type FailureType, failureTypes } from '../../domain/kernel/failures.ts';
import { attributesOf, payloadOf, type RecordedEvent } from './histories.ts';
import type { TracedDecision } from './changed-workflows.ts';
import { idOf, searchAttributesOf, type Traced } from './trace.ts';

/** A history must show it; or a sentence that says why none can. */
type Demand = true | string;

/** The kinds of what an activity returns: of the answer itself, or of each of its `outcomes`. */
type KindsOf<Answer> = Answer extends { readonly kind: infer Kind extends string }
  ? Kind
  : Answer extends { readonly outcomes: readonly { readonly kind: infer Kind extends string }[] }
    ? Kind
    : never;

type AnswerOf<Activity> = Activity extends (...input: never[]) => Promise<infer Answer> ? Answer : never;

/** Activities whose answers are of several kinds, with each kind. */
type Outcomes<Activities> = {
  readonly [Name in keyof Activities as [KindsOf<AnswerOf<Activities[Name]>>] extends [never] ? never : Name]: Readonly<
    Record<KindsOf<AnswerOf<Activities[Name]>>, Demand>
  >;
};

/** Failures that reach a workflow at once: the others are tried again by Temporal. */
type ShownFailure = {
  [Type in FailureType]: (typeof failureTypes)[Type] extends 'stalled' ? Type : never;
}[FailureType];

/** A workflow as its types describe it. */
interface Described {
  readonly verdict: string;
  readonly phase: string;
  readonly activities: object;
}

/** The coverage of one workflow type. A new verdict, kind of answer, failure or phase does not compile until it is here. */
export interface Coverage<Of extends Described> {
  /** What decides: the test asks it for its verdicts while a history is replayed. Null where nothing does. */
  readonly decision: TracedDecision | null;
  /** Each verdict must be taken, and each kind of answer to the activities that it calls. */
  readonly verdicts: Readonly<Record<Of['verdict'], Partial<Outcomes<Of['activities']>> | string>>;
  /** Those that Temporal tries again reach a workflow only when it gives up: in the table where one did. */
  readonly failures: Readonly<Record<ShownFailure, Demand> & Partial<Record<FailureType, Demand>>>;
  /** Values of the search attribute `HeadroomPhase`. */
  readonly phases: Readonly<Record<Of['phase'], Demand>>;
  /** A chain of runs, recorded to its last one. */
  readonly continuesAsNew: Demand;
  /** Ways that no verdict, answer or failure tells apart: found in the runs of one scenario, in their order. */
  readonly ways?: Readonly<Record<string, (runs: readonly (readonly RecordedEvent[])[]) => boolean>>;
}

type NamedIn<Table> = Table extends { readonly verdicts: infer Verdicts }
  ? { [Verdict in keyof Verdicts]: Exclude<keyof Verdicts[Verdict], keyof string> }[keyof Verdicts]
  : never;

/** Checks a table against the types; one that names an activity with several kinds of answers nowhere does not compile. */
export function coverageOf<Of extends Described>() {
  return <const Table extends Coverage<Of>>(
    table: Table &
      ([Exclude<keyof Outcomes<Of['activities']>, NamedIn<Table>>] extends [never]
        ? unknown
        : { readonly verdicts: { readonly missing: Exclude<keyof Outcomes<Of['activities']>, NamedIn<Table>> } }),
  ): Coverage<Described> => table;
}

/** What a table demands and no history shows, and what a history shows that the table calls impossible or does not know. */
export function gapsOf(coverage: Coverage<Described>, traced: readonly Traced[]): string[] {
  const shown = new Set(traced.flatMap(shownBy));
  const demands = new Map<string, Demand>(demandsOf(coverage));
  for (const [name, isShown] of Object.entries(coverage.ways ?? {})) {
    demands.set(name, true);
    if (chainsOf(traced).some((runs) => isShown(runs.map(({ recorded }) => recorded.events)))) shown.add(name);
  }
  if (chainsOf(traced).some((runs) => runs.length > 1)) shown.add(CHAIN);
  const missing = [...demands].filter(([what, demand]) => demand === true && !shown.has(what));
  const impossible = [...demands].filter(([what, demand]) => demand !== true && shown.has(what));
  const unknown = [...shown].filter((what) => !demands.has(what) && !isTriedAgain(what));
  return [
    ...missing.map(([what]) => `no history shows: ${what}`),
    ...impossible.map(([what, why]) => `a history shows: ${what}, in spite of "${why}"`),
    ...unknown.map((what) => `a history shows, and the table does not have: ${what}`),
  ].toSorted();
}

/** A failure at which Temporal gave up, such as on a machine with much to do, is one more than has to be there. */
function isTriedAgain(what: string): boolean {
  return Object.entries(failureTypes).some(([type, who]) => who !== 'stalled' && what === `failure ${type}`);
}

const CHAIN = 'a chain of runs that continued as new';

function demandsOf({ verdicts, failures, phases, continuesAsNew }: Coverage<Described>): [string, Demand][] {
  const found: [string, Demand][] = [[CHAIN, continuesAsNew]];
  for (const [verdict, activities] of Object.entries(verdicts)) {
    found.push([`verdict ${verdict}`, typeof activities === 'string' ? activities : true]);
    if (typeof activities === 'string') continue;
    for (const [activity, kinds] of Object.entries(activities as Record<string, Record<string, Demand>>)) {
      for (const [kind, demand] of Object.entries(kinds)) {
        found.push([`verdict ${verdict}, ${activity}: ${kind}`, demand]);
      }
    }
  }
  for (const [failure, demand] of Object.entries(failures)) found.push([`failure ${failure}`, demand]);
  for (const [phase, demand] of Object.entries(phases)) found.push([`phase ${phase}`, demand]);
  return found;
}

/** What one history shows, in the words of `demandsOf`. */
function shownBy({ recorded: { events }, steps }: Traced): string[] {
  const verdicts = new Map<unknown, string>();
  const found: string[] = [];
  for (const { verdict, command } of steps) {
    if (command === null) found.push(`verdict ${verdict}`);
    if (command?.kind === 'activity' && verdict !== null) verdicts.set(command.id, verdict);
  }
  const scheduled = new Map<unknown, { readonly id: unknown; readonly type: string }>();
  for (const event of events) {
    const attributes = attributesOf(event);
    const { scheduledEventId } = attributes;
    if (event.eventType === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED') {
      const type = (attributes['activityType'] as { name: string }).name;
      scheduled.set(event.eventId, { id: attributes['activityId'], type });
    } else if (event.eventType === 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED') {
      const activity = scheduled.get(scheduledEventId);
      const verdict = verdicts.get(activity?.id);
      if (activity === undefined || verdict === undefined) continue;
      found.push(
        ...kindsOf(payloadOf(attributes['result'])).map((kind) => `verdict ${verdict}, ${activity.type}: ${kind}`),
      );
    } else if (event.eventType === 'EVENT_TYPE_ACTIVITY_TASK_FAILED') {
      const type = failureOf(attributes['failure']);
      if (type !== null) found.push(`failure ${type}`);
    } else if (event.eventType === 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES') {
      const { HeadroomPhase: phase } = searchAttributesOf(event);
      if (phase !== undefined) found.push(`phase ${JSON.parse(phase) as string}`);
    }
  }
  return found;
}

function kindsOf(answer: unknown): string[] {
  const { kind, outcomes = [] } = (answer ?? {}) as { kind?: string; outcomes?: { kind: string }[] };
  return typeof kind === 'string' ? [kind] : outcomes.map((outcome) => outcome.kind);
}

function failureOf(failure: unknown): string | null {
  const { applicationFailureInfo } = (failure ?? {}) as { applicationFailureInfo?: { type?: string } };
  const type = applicationFailureInfo?.type ?? '';
  return Object.hasOwn(failureTypes, type) ? type : null;
}

/** The runs of each scenario, the first of them first. */
function chainsOf(traced: readonly Traced[]): readonly (readonly Traced[])[] {
  const chains = new Map<string, Traced[]>();
  for (const trace of traced) {
    const { firstExecutionRunId: first } = attributesOf(trace.recorded.events[0]) as Readonly<Record<string, string>>;
    const key = `${trace.recorded.release}/${first ?? idOf(trace.recorded)}`;
    chains.set(key, [...(chains.get(key) ?? []), trace]);
  }
  // As they are called: `name`, `name-2`, …, `name-10`.
  const inOrder = new Intl.Collator('en', { numeric: true });
  return [...chains.values()].map((runs) => runs.toSorted((a, b) => inOrder.compare(a.recorded.name, b.recorded.name)));
}
