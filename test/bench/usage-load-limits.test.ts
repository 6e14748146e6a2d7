import { describe, expect, it } from 'vitest';
import { limitsOf, median } from '../../bench/usage-load/limits.ts';
import type { LoadReport, PhaseReport, SideReport } from '../../bench/usage-load/report.ts';
import { actionsOf } from '../../bench/usage-load/temporal-actions.ts';

const distribution = (p99: number) => ({ count: 100, p50: 1, p90: 2, p99, max: 2 * p99 });

function side(p99: number, writes: SideReport['statusWrites'], rises = 0): SideReport {
  return {
    making: { rate: 50, late: null, failed: 0 },
    lags: { controllers: distribution(p99), admission: distribution(rises), byKind: {}, never: 0 },
    outstanding: 0,
    statusWrites: writes,
    repeated: 0,
  };
}

interface Figures {
  readonly rate?: number;
  readonly ours?: number;
  readonly rises?: number;
  readonly writes?: number;
  readonly cpu?: number;
  readonly starts?: number;
}

/** A phase in which Kubernetes' controller has a p99 of 30 ms, 60 writes of 100 changes, and 10 s of CPU. */
function phase({ rate = 50, ours = 60, rises = 0, writes = 60, cpu = 15, starts = 0 }: Figures = {}): PhaseReport {
  const run = { cpuSeconds: 10, rssMiB: 1, peakMiB: 1 };
  const starter = { ...run, cpuSeconds: cpu };
  const history = Array.from({ length: starts }, () => ({ type: 'workflowExecutionStarted' }));
  return {
    rate,
    seconds: 120,
    changes: 100,
    settledInSeconds: 0,
    sides: {
      original: side(30, { 'kube-controller-manager': 60, 'kube-apiserver': 40 }),
      headroom: side(ours, { headroom: writes, 'kube-apiserver': 40 }, rises),
    },
    headroom: {
      counters: {},
      apiCalls: [],
      temporal: { runs: 0, byStatus: {}, histories: 0, actions: actionsOf(history), events: null, steps: {} },
    },
    machine: {
      seconds: 120,
      busy: 0.5,
      othersCpuSeconds: 0,
      processes: { 'headroom starter': starter, 'original kube-controller-manager': run },
      loopDelayP99: 0,
    },
  };
}

function report(phases: readonly PhaseReport[], more: Partial<LoadReport> = {}): LoadReport {
  const options = { quotas: 1, pods: 1, rates: [50], seconds: 120, seed: 1 };
  return { options, processors: 2, fill: { seconds: 1, headroom: null }, phases, burst: null, untrue: {}, ...more };
}

const above = (of: LoadReport): readonly string[] => limitsOf(of).flatMap(({ what, isHeld }) => (isHeld ? [] : [what]));

describe("the limits of a run beside Kubernetes' own controller", () => {
  it('are held by figures that are at them', () => {
    expect(above(report([phase()], { untrue: { original: [], headroom: [] } }))).toEqual([]);
    expect(limitsOf(report([phase()]))).toHaveLength(7);
  });

  it.each<[string, Figures, string]>([
    ['a late status', { ours: 60.1 }, '50 changes a second: what lowers usage, p99'],
    ['a status below the truth', { rises: 1 }, '50 changes a second: what raises usage, p99'],
    ['a write too many', { writes: 61 }, '50 changes a second: status writes a change'],
    ['a workflow', { starts: 1 }, '50 changes a second: Temporal actions beside the roll-up'],
    ['too much CPU', { cpu: 15.1 }, '50 changes a second: CPU of the starter'],
  ])('are broken by %s', (_, figures, what) => {
    expect(above(report([phase(figures)]))).toEqual([what]);
  });

  it('allow three times as much, and 100 ms, where few changes come', () => {
    expect(above(report([phase({ rate: 10, ours: 100 })]))).toEqual([]);
    expect(above(report([phase({ rate: 10, ours: 101 })]))).toHaveLength(1);
  });

  it('are about the middle of several rounds', () => {
    const rounds = [phase({ ours: 20 }), phase({ ours: 500 }), phase({ ours: 59 })];
    expect(above(report(rounds))).toEqual([]);
    expect(above(report([...rounds, phase({ ours: 500 }), phase({ ours: 500 })]))).toHaveLength(1);
  });

  it('are broken by a burst that costs more writes, or is true much later, and by an untrue status', () => {
    const result = { pods: 1_000, deletedInMs: 5_000, trueAfterMs: 40, writes: { 'kube-controller-manager': 47 } };
    const burst = (trueAfterMs: number, writes: number): LoadReport['burst'] => ({
      sides: { original: result, headroom: { ...result, trueAfterMs, writes: { headroom: writes } } },
      headroom: null,
      machine: phase().machine,
    });
    expect(above(report([phase()], { burst: burst(250, 47) }))).toEqual([]);
    expect(above(report([phase()], { burst: burst(251, 48), untrue: { headroom: ['one'] } }))).toEqual([
      'a burst of deletions: true after the last',
      'a burst of deletions: status writes',
      'statuses that are not true at the end',
    ]);
  });

  it('are none for two clusters of the same kind', () => {
    expect(limitsOf(report([{ ...phase(), headroom: null }]))).toEqual([]);
  });
});

describe('the middle of several values', () => {
  it('is the one in the middle, or between the two', () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7]), median([])]).toEqual([2, 2.5, 7, 0]);
  });
});
