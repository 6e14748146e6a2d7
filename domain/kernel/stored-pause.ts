/** The format of pauses in two ConfigMaps. */
import { z } from 'zod';
import {
  type Pause,
  PAUSE_EVERYTHING,
  type PauseInForce,
  PAUSES,
  type PauseScope,
  type PauseSubject,
} from './pause.ts';
import { type ControllerName, controllerNames } from './controllers.ts';
import { oneLine } from './sentence.ts';
import { type EpochMs, formatInstant } from './time.ts';

/** The ConfigMaps as they were read: null where one does not exist. */
export interface PauseConfigMaps {
  readonly everything: { readonly data: Readonly<Record<string, string>>; readonly createdAt: EpochMs | null } | null;
  readonly pauses: Readonly<Record<string, string>> | null;
  /** Why the process may write nothing at all, whatever is in them. */
  readonly held?: PauseInForce | null;
}

/**
 * The key of a pause in the ConfigMap: `target_<controller>_team-a_compute`, `namespace_team-a`,
 * `controller_<controller>`. Kubernetes names have no underscore, so the parts are unambiguous. A key has at most 253
 * characters; a longer one ends in a hash.
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

type ReadScope =
  | Extract<PauseScope, { kind: 'namespace' }>
  | (Extract<PauseScope, { kind: 'controller' | 'target' }> & { readonly controller: ControllerName });

/**
 * The scope of a key of the ConfigMap; null for a key that stops nothing, such as `namespace-team-a` or a misspelled
 * controller. The name of a target in a shortened key is not complete.
 */
export function scopeOfPauseKey(key: string): ReadScope | null {
  const [, kind, rest = ''] = /^(controller|namespace|target)_(.+)$/s.exec(key) ?? [];
  if (kind === 'namespace') return NAMESPACE.test(rest) ? { kind, namespace: rest } : null;
  const controller = controllerNames.find((name) => rest === name || rest.startsWith(`${name}_`));
  if (controller === undefined) return null;
  if (kind === 'controller') return rest === controller ? { kind, controller } : null;
  const name = rest.slice(controller.length + 1).replace('_', '/');
  return kind === 'target' && name !== '' ? { kind, controller, name } : null;
}

/** Whether the key was too long, so that it ends in a hash in place of the end of the name. */
export function isShortenedPauseKey(key: string): boolean {
  return key.length === MAX_KEY && SHORTENED.test(key);
}

/** A DNS label. */
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Kubernetes' limit for a key of a ConfigMap. */
const MAX_KEY = 253;
const DIGEST = 16;
const SHORTENED = /_[0-9a-f]{16}$/;

const storedPause = z.object({
  by: z.string().catch('unknown'),
  reason: z.string().catch(''),
  at: z.iso.datetime({ offset: true }).nullable().catch(null),
});

/** Parses the value of a key in the format of any version. Any other value, which people may type, is a pause too. */
export function upgradePause(text: string): Pause {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const read = storedPause.safeParse(value);
  if (!read.success) return { by: 'unknown', reason: oneLine(text).slice(0, 200), at: null };
  const { by, reason, at } = read.data;
  return { by, reason, at: at === null ? null : Date.parse(at) };
}

/** The value of a key, in JSON. */
export function storePause({ by, reason, at }: Pause): string {
  return JSON.stringify({ by, reason, at: at === null ? null : formatInstant(at) });
}

/** The pause of everything, while the ConfigMap of it exists; null when there is none. */
export function pauseOfEverything({ everything }: Pick<PauseConfigMaps, 'everything'>): Pause | null {
  if (everything === null || everything.data['paused']?.trim().toLowerCase() === 'false') return null;
  const { by = 'unknown', reason = '' } = everything.data;
  return { by, reason, at: everything.createdAt };
}

/**
 * The pause that applies to a subject, the widest scope first; null when there is none. Everything is paused while the
 * ConfigMap `headroom-pause` exists, unless its key `paused` is "false".
 */
export function pauseOf(
  { everything, pauses, held = null }: PauseConfigMaps,
  { controller, namespace, name }: PauseSubject,
  digest: (text: string) => string,
): PauseInForce | null {
  if (held !== null) return held;
  const ofEverything = pauseOfEverything({ everything });
  if (ofEverything !== null) return { scope: 'everything', kept: `ConfigMap ${PAUSE_EVERYTHING}`, ...ofEverything };
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
