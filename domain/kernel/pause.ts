/** Pauses: what Headroom may not write for, who said so, and why. Workflows import this, so it reads nothing: see stored-pause.ts. */
import type { ControllerName } from './controllers.ts';
import { type EpochMs, formatInstant } from './time.ts';

/** Its existence, even empty, stops everything. People create and delete it; Headroom only reads it. */
export const PAUSE_EVERYTHING = 'headroom-pause';
/** Each of its keys is a pause of one target, a namespace or a controller. */
export const PAUSES = 'headroom-pauses';

/** An operator's word to write nothing. */
export interface Pause {
  readonly by: string;
  readonly reason: string;
  /** Null where it was not said, or cannot be read. */
  readonly at: EpochMs | null;
}

/** What a pause holds for. */
export type PauseScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'controller'; readonly controller: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  /** `name` is `<namespace>/<quota>`, or the name of what is in no namespace. */
  | { readonly kind: 'target'; readonly controller: string; readonly name: string };

/** What somebody wants to write for. */
export interface PauseSubject {
  readonly controller: ControllerName;
  /** Absent for what is in no namespace. */
  readonly namespace?: string;
  /** `<namespace>/<quota>`, or the name of what is in no namespace; absent for what concerns no single target. */
  readonly name?: string;
}

/** A pause that holds for a subject, and what it was said for. */
export interface PauseInForce extends Pause {
  readonly scope: PauseScope['kind'];
  /** For people: `ConfigMap headroom-pauses, key namespace_team-a`. */
  readonly kept: string;
}

const WHAT: Readonly<Record<PauseScope['kind'], string>> = {
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
