/** What a run must reach beside Kubernetes' own controller, as ratios to that one's figures in the same run. */
import type { LoadReport, PhaseReport, SideReport } from './report.ts';
import { totalActions } from './temporal-actions.ts';

/** A figure of the run and the most that it may be. */
export interface Limit {
  readonly what: string;
  readonly unit: string;
  readonly measured: number;
  readonly most: number;
  readonly isHeld: boolean;
}

/** From so many changes a second on a late status is the writer's own doing, and not the time of a single write. */
const BUSY_RATE = 50;
const BUSY_FACTOR = 2;
const QUIET_FACTOR = 3;
/** Milliseconds that nobody notices, where Kubernetes' controller is faster than a third of it. */
const UNNOTICED_MS = 100;
/** Of the CPU of kube-controller-manager, whose other controllers have little to do here. */
const CPU_FACTOR = 1.5;
/** Milliseconds after a burst that are a single gap of the namespace, with the write. */
const BURST_MS = 250;

const [OURS, THEIRS] = ['headroom', 'original'];

/** The limits of a run against Kubernetes' own controller; none where both clusters have that. */
export function limitsOf({ phases, burst, untrue }: LoadReport): readonly Limit[] {
  if (phases.some(({ headroom }) => headroom === null)) return [];
  const rates = [...new Set(phases.map(({ rate }) => rate))];
  const statuses = Object.values(untrue).reduce((sum, quotas) => sum + quotas.length, 0);
  return [
    ...rates.flatMap((rate) =>
      limitsAt(
        rate,
        phases.filter((phase) => phase.rate === rate),
      ),
    ),
    ...(burst === null ? [] : burstLimits(burst.sides)),
    limit('statuses that are not true at the end', '', statuses, 0),
  ];
}

function limitsAt(rate: number, phases: readonly PhaseReport[]): readonly Limit[] {
  const at = `${rate} changes a second`;
  const of = (side: string, figure: (report: SideReport) => number): number =>
    median(phases.flatMap(({ sides }) => (sides[side] === undefined ? [] : [figure(sides[side])])));
  const falls = ({ lags }: SideReport): number => lags.controllers?.p99 ?? 0;
  const rises = ({ lags }: SideReport): number => lags.admission?.p99 ?? 0;
  const most =
    rate >= BUSY_RATE ? BUSY_FACTOR * of(THEIRS, falls) : Math.max(QUIET_FACTOR * of(THEIRS, falls), UNNOTICED_MS);
  const changes = phases.reduce((sum, phase) => sum + phase.changes, 0);
  const writes = (side: string, manager: string): number =>
    phases.reduce((sum, { sides }) => sum + (sides[side]?.statusWrites[manager] ?? 0), 0) / changes;
  const cpu = (name: string): number =>
    phases.reduce((sum, { machine }) => sum + (machine.processes[name]?.cpuSeconds ?? 0), 0) / phases.length;
  const actions = phases.reduce(
    (sum, { headroom }) => sum + (headroom === null ? 0 : totalActions(headroom.temporal.actions)),
    0,
  );
  return [
    limit(`${at}: what lowers usage, p99`, 'ms', of(OURS, falls), most),
    limit(`${at}: what raises usage, p99`, 'ms', of(OURS, rises), of(THEIRS, rises)),
    limit(`${at}: status writes a change`, '', writes(OURS, 'headroom'), writes(THEIRS, 'kube-controller-manager')),
    limit(`${at}: Temporal actions beside the roll-up`, '', actions, 0),
    limit(
      `${at}: CPU of the starter`,
      's',
      cpu('headroom starter'),
      CPU_FACTOR * cpu('original kube-controller-manager'),
    ),
    limit(
      `${at}: changes that no status followed`,
      '',
      phases.reduce((sum, { sides }) => sum + (sides[OURS]?.lags.never ?? 0), 0),
      0,
    ),
  ];
}

function burstLimits(sides: NonNullable<LoadReport['burst']>['sides']): readonly Limit[] {
  const [ours, theirs] = [sides[OURS], sides[THEIRS]];
  if (ours === undefined || theirs === undefined) return [];
  const most = Math.max(BUSY_FACTOR * theirs.trueAfterMs, BURST_MS);
  return [
    limit('a burst of deletions: true after the last', 'ms', ours.trueAfterMs, most),
    limit(
      'a burst of deletions: status writes',
      '',
      ours.writes['headroom'] ?? 0,
      theirs.writes['kube-controller-manager'] ?? 0,
    ),
  ];
}

function limit(what: string, unit: string, measured: number, most: number): Limit {
  return { what, unit, measured, most, isHeld: measured <= most };
}

/** The middle one, or the mean of both middle ones; 0 of none. */
export function median(values: readonly number[]): number {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = ascending.length / 2;
  const [low = 0, high = low] = ascending.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}
