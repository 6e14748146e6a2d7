/** The pauses as activities read and write them: every `ensure…` asks before it writes. */
import { createHash } from 'node:crypto';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import {
  type Pause,
  PAUSE_EVERYTHING,
  type PauseInForce,
  PAUSES,
  type PauseScope,
  pauseSentence,
  type PauseSubject,
} from '../../domain/kernel/pause.ts';
import { type PauseConfigMaps, pauseKey, pauseOf, storePause } from '../../domain/kernel/stored-pause.ts';
import { quotaPauseSubject, type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull, withKubernetesFailures } from '../kubernetes/failure.ts';
import { failure } from './failure.ts';

export interface PauseOptions {
  readonly kubernetes: Pick<Kubernetes, 'core'>;
  /** Where both ConfigMaps are. */
  readonly systemNamespace: string;
  /** The process's own view of both; absent: they are read each time. */
  readonly pauses?:
    | {
        /** What was confirmed longer ago than so many milliseconds is read again. */
        readonly read: (maxAgeMs?: number) => Promise<PauseConfigMaps>;
        /** They were written by this process. */
        readonly changed: () => void;
      }
    | undefined;
}

/** Both ConfigMaps as they are now. */
export async function readPauseConfigMaps({ kubernetes, systemNamespace }: PauseOptions): Promise<PauseConfigMaps> {
  const read = async (name: string) =>
    await orNull(kubernetes.core.readNamespacedConfigMap({ name, namespace: systemNamespace }));
  const [everything, pauses] = await Promise.all([read(PAUSE_EVERYTHING), read(PAUSES)]);
  return {
    everything:
      everything === null
        ? null
        : {
            data: everything.data ?? {},
            createdAt: everything.metadata?.creationTimestamp?.getTime() ?? null,
          },
    pauses: pauses === null ? null : { ...textsOf(pauses.binaryData), ...pauses.data },
  };
}

/** What is no UTF-8 is kept apart by Kubernetes, in Base64: a pause all the same. */
function textsOf(binaryData: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const texts = Object.entries(binaryData).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The pause of a subject, by what was read of all of them. */
type PauseOf = (subject: PauseSubject) => PauseInForce | null;

/** The pauses of this moment, to be asked for several subjects. */
export async function readPauses(options: PauseOptions, maxAgeMs?: number): Promise<PauseOf> {
  const maps = await (options.pauses === undefined ? readPauseConfigMaps(options) : options.pauses.read(maxAgeMs));
  return (subject) => pauseOf(maps, subject, digest);
}

/** What was read for an answer that ends a wait or prevents a write, in milliseconds: a second serves many of them at once. */
export const JUST_READ_MS = 1_000;

/**
 * The same for what one subject is about. A pause of it is read just now: where two workers' views disagree, one would
 * go on writing what the other goes on preventing.
 */
export async function readPausesFor(options: PauseOptions, subject: PauseSubject): Promise<PauseOf> {
  const pauseOf = await readPauses(options);
  return pauseOf(subject) === null ? pauseOf : await readPauses(options, JUST_READ_MS);
}

/** The pause that holds for a subject; null where there is none. */
export async function readPause(options: PauseOptions, subject: PauseSubject): Promise<PauseInForce | null> {
  return (await readPausesFor(options, subject))(subject);
}

/** The key of a pause in the ConfigMap `headroom-pauses`. */
export function keyOf(scope: Exclude<PauseScope, { kind: 'everything' }>): string {
  return pauseKey(scope, digest);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The check that every `ensure…` makes before it writes. When it cannot be made, nothing is written either.
 *
 * @returns a function that throws `Paused` or `GloballyPaused` (not retried), with the pause, while nothing may be written
 * for the subject; `what` is the subject in words.
 */
export function createPauseGuard(options: PauseOptions): (subject: PauseSubject, what: string) => Promise<void> {
  return withKubernetesFailures(async (subject: PauseSubject, what: string) => {
    const pause = await readPause(options, subject);
    if (pause === null) return;
    throw failure({
      type: pause.scope === 'everything' ? 'GloballyPaused' : 'Paused',
      nonRetryable: true,
      message: `nothing is written for ${what}: ${pauseSentence(pause)}`,
      details: [pause],
    });
  });
}

/** The guard for quotas of a controller. */
export function createQuotaPauseGuard(
  options: PauseOptions,
  controller: PauseSubject['controller'],
): (target: QuotaTarget) => Promise<void> {
  const guard = createPauseGuard(options);
  return async (target) => await guard(quotaPauseSubject(controller, target), targetName(target));
}

/**
 * Writes a pause of a target, a namespace or a controller, or takes it away with null. Each is a key of its own, so that
 * nobody's write undoes another's.
 */
export async function writePause(
  { kubernetes, systemNamespace: namespace, pauses }: PauseOptions,
  scope: Exclude<PauseScope, { kind: 'everything' }>,
  pause: Pause | null,
): Promise<void> {
  const key = keyOf(scope);
  const data = { [key]: pause === null ? null : storePause(pause) };
  const write = kubernetes.core.patchNamespacedConfigMap(
    { name: PAUSES, namespace, body: { data, binaryData: { [key]: null } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  try {
    // Where there is no ConfigMap, there is no pause to take away.
    await (pause === null ? orNull(write) : write);
  } finally {
    // Its answer may be lost, and it written all the same.
    pauses?.changed();
  }
}
