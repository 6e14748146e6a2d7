/** Many sequences on one control plane, some of them at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../chaos/random.ts';
import { LightsOutCluster, startLightsOutPlane } from '../cluster.ts';
import { readEvidence, writeAuditPolicy } from './evidence.ts';
import { Processes } from './processes.ts';
import { type Counts, Sequence } from './sequence.ts';
import { makeSteps } from './step.ts';

export interface SequencesOptions {
  readonly seed: number;
  /** The number of the first: each depends on its number and the seed only. */
  readonly first: number;
  readonly sequences: number;
  readonly steps: number;
  readonly atOnce: number;
  /** Called with a line of text for everything that happens. */
  readonly log: (what: string) => void;
}

export interface SequencesReport extends Readonly<Counts> {
  readonly sequences: number;
  /** Of the worker, to workloads. */
  readonly writes: number;
  /** Everything that was not as it should be. */
  readonly failures: readonly string[];
}

/** Far from those of the next seed. */
const SEEDS_APART = 10_000;

export async function runSequences({
  seed,
  first,
  sequences,
  steps,
  atOnce,
  log,
}: SequencesOptions): Promise<SequencesReport> {
  const folder = await mkdtemp(join(tmpdir(), 'lights-out-sequences-'));
  const policy = join(folder, 'audit-policy.yaml');
  await writeAuditPolicy(policy);
  const plane = await startLightsOutPlane({
    apiServerFlags: [`--audit-policy-file=${policy}`],
    // What GitOps wakes is put to sleep again at once, so that there is one end to compare with.
    env: { 'lightsOut.contestedMin': '10ms', 'lightsOut.contestedMax': '10ms' },
  });
  try {
    const processes = new Processes(plane);
    await processes.start();
    log('the control plane is up');
    const cluster = new LightsOutCluster(plane);
    const counts: Counts = { steps: 0, actions: 0, faults: 0 };
    const failures: string[] = [];
    const left = Array.from({ length: sequences }, (_, index) => first + index);
    const work = async (): Promise<void> => {
      for (let number = left.shift(); number !== undefined; number = left.shift()) {
        const random = seededRandom(seed * SEEDS_APART + number);
        const sequence = new Sequence(cluster, processes, `s${seed}-${number}`, counts);
        try {
          await sequence.run(makeSteps(random), steps);
          log(`sequence ${number} ended as the table says`);
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          failures.push(`sequence ${number} of the seed ${seed}: ${reason}`);
          log(failures.at(-1) ?? '');
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await processes.areAlive();
    const { writes, problems } = await readEvidence(plane);
    return { ...counts, sequences, writes, failures: [...failures, ...problems] };
  } finally {
    await plane.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
