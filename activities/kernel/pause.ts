/** How activities read and write pauses: every `ensure…` activity checks for one before it writes. */
import { createHash } from 'node:crypto';
import { PatchStrategy, setHeaderOptions, type V1ConfigMap } from '@kubernetes/client-node';
import {
  type Pause,
  PAUSE_EVERYTHING,
  type PauseInForce,
  pauseReason,
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
  /** The namespace of both ConfigMaps. */
  readonly systemNamespace: string;
  /** The process's cached view of both ConfigMaps; absent: they are read each time. */
  readonly pauses?:
    | {
        /** State that was confirmed longer ago, in milliseconds, is read again. */
        readonly read: (maxAgeMs?: number) => Promise<PauseConfigMaps>;
        /** Must be called after this process wrote them. */
        readonly changed: () => void;
      }
    | undefined;
}

/** Both ConfigMaps as they are now. */
export async function readPauseConfigMaps({ kubernetes, systemNamespace }: PauseOptions): Promise<PauseConfigMaps> {
  const read = async (name: string) =>
    await orNull(kubernetes.core.readNamespacedConfigMap({ name, namespace: systemNamespace }));
  const [everything, pauses] = await Promise.all([read(PAUSE_EVERYTHING), read(PAUSES)]);
  return pauseConfigMapsOf(everything, pauses);
}

/** The pauses in both ConfigMaps, as they were read or listed; null for one that does not exist. */
export function pauseConfigMapsOf(everything: V1ConfigMap | null, pauses: V1ConfigMap | null): PauseConfigMaps {
  const created = everything?.metadata?.creationTimestamp;
  return {
    everything:
      everything === null
        ? null
        : {
            data: everything.data ?? {},
            // A time in a plain list is text.
            createdAt: created === undefined ? null : new Date(created).getTime(),
          },
    pauses: pauses === null ? null : { ...textsOf(pauses.binaryData), ...pauses.data },
  };
}

/** Kubernetes stores values that are not UTF-8 separately, in Base64; they count as pauses too. */
function textsOf(binaryData: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const texts = Object.entries(binaryData).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The pause of a subject, in the state that was read. */
type PauseOf = (subject: PauseSubject) => PauseInForce | null;

/** The present pauses, to check several subjects. */
export async function readPauses(options: PauseOptions, maxAgeMs?: number): Promise<PauseOf> {
  const maps = await (options.pauses === undefined ? readPauseConfigMaps(options) : options.pauses.read(maxAgeMs));
  return pausesIn(maps);
}

/** The pause of each subject, in both ConfigMaps. */
export function pausesIn(maps: PauseConfigMaps): PauseOf {
  return (subject) => pauseOf(maps, subject, digest);
}

/**
 * Maximum age in milliseconds of state that ends a wait or prevents a write: one read per second serves many of them.
 */
export const JUST_READ_MS = 1_000;

/**
 * The pauses for subjects in one place. If a pause is found, it is confirmed by a fresh read: with different views in
 * two workers, one would keep writing what the other keeps preventing.
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
 * The check before every write of an `ensure…` activity. If the check fails, nothing is written.
 *
 * @returns a function that throws `Paused` or `GloballyPaused` (not retried), with the pause, while nothing may be
 *   written for the subject; `what` is the subject in words.
 */
export function createPauseGuard(options: PauseOptions): (subject: PauseSubject, what: string) => Promise<void> {
  return withKubernetesFailures(async (subject: PauseSubject, what: string) => {
    const pause = await readPause(options, subject);
    if (pause === null) return;
    throw failure({
      type: pauseReason(pause),
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
 * Writes a pause of a target, a namespace or a controller, or deletes it when null. Each pause has its own key, so that
 * concurrent writes do not conflict.
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
    // Without a ConfigMap there is no pause to delete.
    await (pause === null ? orNull(write) : write);
  } finally {
    // The write may have succeeded even if its response was lost.
    pauses?.changed();
  }
}
