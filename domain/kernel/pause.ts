/**
 * Pauses: what Headroom must not write to, who said so, and why. Workflows import this module, so it has no parsers:
 * see stored-pause.ts.
 */
import type { ControllerName } from './controllers.ts';
import { type EpochMs, formatInstant } from './time.ts';

/**
 * The existence of this ConfigMap, even empty, stops everything. People create and delete it; Headroom only reads it.
 */
export const PAUSE_EVERYTHING = 'headroom-pause';
/** Each key of this ConfigMap is a pause of one target, a namespace or a controller. */
export const PAUSES = 'headroom-pauses';

/** An operator's command to write nothing. */
export interface Pause {
  readonly by: string;
  readonly reason: string;
  /** Null when the time is absent or invalid. */
  readonly at: EpochMs | null;
}

/** The scope of a pause. */
export type PauseScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'controller'; readonly controller: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  /** `name` is `<namespace>/<quota>`, or the name of a cluster-scoped target. */
  | { readonly kind: 'target'; readonly controller: string; readonly name: string };

/** The subject of a write. */
export interface PauseSubject {
  readonly controller: ControllerName;
  /** Absent for a cluster-scoped subject. */
  readonly namespace?: string;
  /**
   * `<namespace>/<quota>`, or the name of a cluster-scoped target; absent for a write that concerns no single target.
   */
  readonly name?: string;
}

/** The target of a workflow. */
export type PauseTarget = PauseSubject & { readonly name: string };

/** A pause that applies to a subject, with its scope. */
export interface PauseInForce extends Pause {
  /** `policy`: no command; nothing may be written because the policy that holds the writes is not proved. */
  readonly scope: PauseScope['kind'] | 'policy';
  /** Where the pause is stored, for people: `ConfigMap headroom-pauses, key namespace_team-a`. */
  readonly kept: string;
}

const WHAT: Readonly<Record<PauseInForce['scope'], string>> = {
  policy: 'Headroom is held',
  everything: 'Headroom is paused in this cluster',
  controller: 'the controller is paused',
  namespace: 'the namespace is paused',
  target: 'paused',
};

/** `the namespace is paused by alice since 2026-11-22T17:00:00Z: a freeze (ConfigMap headroom-pauses, key …)`. */
export function pauseSentence({ scope, by, reason, at, kept }: PauseInForce): string {
  const since = at === null ? '' : ` since ${formatInstant(at)}`;
  return `${WHAT[scope]} by ${by}${since}${reason === '' ? '' : `: ${reason}`} (${kept})`;
}

/** The reason that a status gives for a pause, and the type of the failure of a write that it prevents. */
export function pauseReason({ scope }: Pick<PauseInForce, 'scope'>): 'GloballyPaused' | 'Paused' {
  return scope === 'everything' || scope === 'policy' ? 'GloballyPaused' : 'Paused';
}

/** `Nothing is written for now: paused by alice since …: a freeze (ConfigMap …). Resume with: …`, for the sender of a command. */
export function writesNothingSentence(pause: PauseInForce, target: PauseTarget): string {
  return `Nothing is written for now: ${pauseSentence(pause)}. ${resumeSentence(pause, target)}`;
}

/** What ends a pause. */
export function resumeSentence(
  { scope }: Pick<PauseInForce, 'scope'>,
  { controller, namespace, name }: PauseTarget,
): string {
  switch (scope) {
    case 'policy':
      return 'It goes on by itself once the policy is in force';
    case 'everything':
      return `Delete the ConfigMap ${PAUSE_EVERYTHING} to resume`;
    case 'controller':
      return `Resume with: headroom resume --controller ${controller}`;
    case 'namespace':
      return `Resume with: headroom resume --namespace ${namespace}`;
    case 'target':
      return `Resume with: headroom resume ${name} --controller ${controller}`;
  }
}
