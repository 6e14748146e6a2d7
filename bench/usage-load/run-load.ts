import { availableParallelism } from 'node:os';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import type { AuditEvent } from '../../test/kernel/servers/audit-log.ts';
import { apiCalls } from './api-calls.ts';
import { burstNamespace, countedBy, deleteAtOnce } from './burst.ts';
import { type LoadOptions, type Phase, planLoad } from './plan.ts';
import type { BurstReport, HeadroomUse, LoadReport, PhaseReport, SideReport } from './report.ts';
import { lagsOf, makeChanges } from './run-phase.ts';
import type { LoadServers } from './servers.ts';
import { Side } from './side.ts';
import { type Span, SpanMeter } from './span-meter.ts';
import { temporalUse } from './temporal-runs.ts';

export interface RunOptions extends LoadOptions {
  /** Pods of the namespace that is emptied at once; 0 leaves that out. */
  readonly burst: number;
  /** How many histories of a span are read at most to count actions. */
  readonly histories: number;
  /** Seconds that a phase waits for statuses that are still to become true. */
  readonly settle: number;
  readonly log: (what: string) => void;
}

/** What is known of a phase when it is over; lags of it may still be found later. */
interface MadePhase {
  readonly phase: Phase;
  readonly span: Span;
  readonly settledInSeconds: number;
  readonly sides: ReadonlyMap<Side, Omit<SideReport, 'lags'>>;
}

interface MadeBurst {
  readonly span: Span;
  readonly sides: BurstReport['sides'];
}

/** Fills both clusters, makes the same changes to both, and reports how late each status was and what it took. */
export async function runLoad(servers: LoadServers, options: RunOptions): Promise<LoadReport> {
  const plan = planLoad(options);
  const sides = Object.entries(servers.clusters).map(([name, kubeconfig]) => new Side(name, kubeconfig));
  const meter = new SpanMeter(
    () => ({ ...servers.pids(), 'this program': process.pid }),
    async () => (await servers.headroom?.counters()) ?? {},
  );
  try {
    for (const side of sides) await side.watch.start();
    options.log('filling the clusters');
    const [, filled] = await meter.during(async () => {
      await Promise.all(sides.map(async (side) => await side.fillWith(plan.namespaces)));
    });
    const made: MadePhase[] = [];
    for (const phase of plan.phases) {
      options.log(`${phase.rate} changes a second for ${options.seconds} s`);
      made.push(await makePhase(sides, phase, meter, options.settle));
    }
    const burst = options.burst === 0 ? null : await makeBurst(sides, meter, options);

    for (const { watch } of sides) await watch.catchUp();
    const untrue = Object.fromEntries(sides.map((side) => [side.name, side.book.untrue()]));

    // Asked for at the end, since asking takes processors too.
    options.log('reading the audit log and the histories');
    const asked = (await servers.headroom?.auditEvents()) ?? [];
    const use = async (span: Span): Promise<HeadroomUse | null> =>
      await headroomUse(servers, asked, span, options.histories);
    const phases: PhaseReport[] = [];
    for (const phase of made) phases.push({ ...phaseReport(phase, options), headroom: await use(phase.span) });
    return {
      options: asLoadOptions(options),
      processors: availableParallelism(),
      fill: { seconds: filled.machine.seconds, headroom: await use(filled) },
      phases,
      burst: burst && { sides: burst.sides, machine: burst.span.machine, headroom: await use(burst.span) },
      untrue,
    };
  } finally {
    meter.stop();
    for (const side of sides) side.watch.stop();
  }
}

async function makePhase(
  sides: readonly Side[],
  phase: Phase,
  meter: SpanMeter,
  settleSeconds: number,
): Promise<MadePhase> {
  const before = new Map(sides.map((side) => [side, countsOf(side)]));
  const [{ making, settledInSeconds }, span] = await meter.during(async () => {
    const making = await makeChanges(sides, phase);
    const ended = performance.now();
    const isSettled = (): boolean => sides.every(({ book }) => book.outstanding === 0);
    // A status that is not true by then is in the report and does not end the run.
    await eventually('every status is true', isSettled, settleSeconds * 1000).catch(() => undefined);
    return { making, settledInSeconds: (performance.now() - ended) / 1000 };
  });
  for (const { watch } of sides) await watch.catchUp();
  const reports = [...making].map(([side, made]) => {
    const since = before.get(side) ?? { writes: 0, repeated: 0 };
    const report = {
      making: made,
      outstanding: side.book.outstanding,
      statusWrites: countedBy(side.watch.writes.slice(since.writes).map(({ manager }) => manager)),
      repeated: side.hand.repeated - since.repeated,
    };
    return [side, report] as const;
  });
  return { phase, span, settledInSeconds, sides: new Map(reports) };
}

function countsOf({ watch, hand }: Side): { readonly writes: number; readonly repeated: number } {
  return { writes: watch.writes.length, repeated: hand.repeated };
}

async function makeBurst(
  sides: readonly Side[],
  meter: SpanMeter,
  { burst, seed, log }: RunOptions,
): Promise<MadeBurst> {
  log(`a burst of ${burst} deletions`);
  const namespaces = burstNamespace(burst, seed);
  await Promise.all(sides.map(async (side) => await side.fillWith(namespaces)));
  const [results, span] = await meter.during(
    async () =>
      await Promise.all(sides.map(async (side) => [side.name, await deleteAtOnce(side, namespaces)] as const)),
  );
  return { span, sides: Object.fromEntries(results) };
}

function phaseReport(
  { phase, span, settledInSeconds, sides }: MadePhase,
  { seconds }: LoadOptions,
): Omit<PhaseReport, 'headroom'> {
  const reports = [...sides].map(
    ([side, report]) => [side.name, { ...report, lags: lagsOf(side, phase.changes) }] as const,
  );
  return {
    rate: phase.rate,
    seconds,
    changes: phase.changes.length,
    settledInSeconds,
    sides: Object.fromEntries(reports),
    machine: span.machine,
  };
}

async function headroomUse(
  { headroom }: LoadServers,
  asked: readonly AuditEvent[],
  { from, to, counters }: Span,
  histories: number,
): Promise<HeadroomUse | null> {
  if (headroom === null) return null;
  const span = { from: from.getTime(), to: to.getTime(), users: headroom.users };
  return {
    counters,
    apiCalls: apiCalls(asked, span),
    temporal: await temporalUse(headroom.client, { from, to, histories }),
  };
}

function asLoadOptions({ quotas, pods, rates, seconds, seed }: LoadOptions): LoadOptions {
  return { quotas, pods, rates, seconds, seed };
}
