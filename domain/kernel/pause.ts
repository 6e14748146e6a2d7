/** Pauses: what Headroom may not write for, who said so, and where that is kept. */
import { z } from 'zod';
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

/** The ConfigMaps as they were read: null where one does not exist. */
export interface PauseConfigMaps {
  readonly everything: { readonly data: Readonly<Record<string, string>>; readonly createdAt: EpochMs | null } | null;
  readonly pauses: Readonly<Record<string, string>> | null;
}

/**
 * The key of a pause in the ConfigMap: `target_quota-resize_team-a_compute`, `namespace_team-a`, `controller_lights-out`. No
 * name of Kubernetes has an underscore, so the parts cannot run into each other. A key has at most 253 characters, fewer than
 * a target's names may have; a longer one ends in a hash.
 *
 * @param digest of a text, in hexadecimal digits.
 */
export function pauseKey(scope: Exclude<PauseScope, { kind: 'everything' }>, digest: (text: string) => string): string {
  switch (scope.kind) {
    case 'controller':
      return `controller_${scope.controller}`;
    case 'namespace':
      return `namespace_${scope.namespace}`;
    case 'target': {
      const key = `target_${scope.controller}_${scope.name.replace('/', '_')}`;
      return key.length <= MAX_KEY ? key : `${key.slice(0, MAX_KEY - DIGEST - 1)}_${digest(key).slice(0, DIGEST)}`;
    }
  }
}

/** Kubernetes' limit for a key of a ConfigMap. */
const MAX_KEY = 253;
const DIGEST = 16;

const storedPause = z.object({
  by: z.string().catch('unknown'),
  reason: z.string().catch(''),
  at: z.iso.datetime({ offset: true }).nullable().catch(null),
});

/** Reads the value of a key as any version wrote it. Whatever people typed in its place is a pause all the same. */
export function upgradePause(text: string): Pause {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const read = storedPause.safeParse(value);
  if (!read.success) return { by: 'unknown', reason: text.replace(/\s+/g, ' ').trim().slice(0, 200), at: null };
  const { by, reason, at } = read.data;
  return { by, reason, at: at === null ? null : Date.parse(at) };
}

/** The value of a key, in JSON. */
export function storePause({ by, reason, at }: Pause): string {
  return JSON.stringify({ by, reason, at: at === null ? null : formatInstant(at) });
}

/**
 * The pause that holds for a subject, the widest first; null where there is none. It is everything's while the ConfigMap
 * `headroom-pause` exists, unless its key `paused` is "false".
 */
export function pauseOf(
  { everything, pauses }: PauseConfigMaps,
  { controller, namespace, name }: PauseSubject,
  digest: (text: string) => string,
): PauseInForce | null {
  if (everything !== null && everything.data['paused']?.trim().toLowerCase() !== 'false') {
    const { by = 'unknown', reason = '' } = everything.data;
    return { scope: 'everything', kept: `ConfigMap ${PAUSE_EVERYTHING}`, by, reason, at: everything.createdAt };
  }
  const scopes: readonly Exclude<PauseScope, { kind: 'everything' }>[] = [
    { kind: 'controller', controller },
    ...(namespace === undefined ? [] : [{ kind: 'namespace', namespace } as const]),
    ...(name === undefined ? [] : [{ kind: 'target', controller, name } as const]),
  ];
  for (const scope of scopes) {
    const key = pauseKey(scope, digest);
    const text = pauses?.[key];
    if (text === undefined) continue;
    return { scope: scope.kind, kept: `ConfigMap ${PAUSES}, key ${key}`, ...upgradePause(text) };
  }
  return null;
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

/** What a `pause` or `resume` that is sent to a workflow comes to. */
export type PauseAnswer =
  | { readonly kind: 'accepted'; readonly pause: Pause | null; readonly message: string }
  | { readonly kind: 'rejected'; readonly message: string };

/** Pure; `known` is the pause that holds for the workflow's target as far as it knows. */
export function pauseCommand(
  name: 'pause' | 'resume',
  known: PauseInForce | null,
  { by, reason }: { readonly by: string; readonly reason: string },
  now: EpochMs,
): PauseAnswer {
  if (name === 'pause') {
    return known?.scope === 'target'
      ? { kind: 'rejected', message: `already ${pauseSentence(known)}` }
      : {
          kind: 'accepted',
          pause: { by, reason, at: now },
          message: `paused by ${by}: nothing is written until resume`,
        };
  }
  if (known === null) return { kind: 'rejected', message: 'not paused, so there is nothing to resume' };
  if (known.scope !== 'target') {
    return { kind: 'rejected', message: `${pauseSentence(known)}, which resume of one target does not end` };
  }
  return { kind: 'accepted', pause: null, message: `resumed by ${by}` };
}
