/** What is paused, as the overview shows it: nothing of it goes on before somebody resumes it. */
import { PAUSE_EVERYTHING, type Pause } from '../../domain/kernel/pause.ts';
import {
  isShortenedPauseKey,
  type PauseConfigMaps,
  pauseOfEverything,
  scopeOfPauseKey,
  upgradePause,
} from '../../domain/kernel/stored-pause.ts';
import type { Overview, Waiting } from './part.ts';

/** @param systemNamespace where the ConfigMaps are. */
export function pauseOverview(systemNamespace: string, present: () => PauseConfigMaps): Overview {
  return ({ namespace }) => {
    const maps = present();
    const everything = pauseOfEverything(maps);
    const some = Object.entries(maps.pauses ?? {}).flatMap(([key, text]) => {
      const named = namedBy(key);
      if (named === null) return [];
      const isShown = namespace === null || named.namespace === null || named.namespace === namespace;
      return isShown ? [waitingFor(upgradePause(text), named)] : [];
    });
    const all = {
      what: 'everything in this cluster',
      command: `kubectl -n ${systemNamespace} delete configmap ${PAUSE_EVERYTHING}`,
    };
    return { waiting: everything === null ? some : [waitingFor(everything, all), ...some], tables: [] };
  };
}

/** What a key pauses; null for one that stops nothing. */
function namedBy(
  key: string,
): { readonly what: string; readonly command: string | null; readonly namespace: string | null } | null {
  const scope = scopeOfPauseKey(key);
  switch (scope?.kind) {
    case 'namespace':
      return {
        what: `namespace ${scope.namespace}`,
        command: `kubectl headroom resume --namespace ${scope.namespace}`,
        namespace: scope.namespace,
      };
    case 'controller':
      return {
        what: `controller ${scope.controller}`,
        command: `kubectl headroom resume --controller ${scope.controller}`,
        namespace: null,
      };
    case 'target': {
      const isCut = isShortenedPauseKey(key);
      return {
        what: `${scope.controller} of ${isCut ? scope.name.replace(/_[^_]*$/, '…') : scope.name}`,
        command: isCut ? null : `kubectl headroom resume ${scope.name} --controller ${scope.controller}`,
        namespace: scope.name.includes('/') ? (scope.name.split('/', 1)[0] ?? null) : null,
      };
    }
    case undefined:
      return null;
  }
}

function waitingFor({ by, reason, at }: Pause, { what, command }: Pick<Waiting, 'what' | 'command'>): Waiting {
  return {
    what,
    whom: 'a person',
    isForPeople: true,
    since: at,
    why: `Paused by ${by}${reason === '' ? '' : `: ${reason}`}, until somebody resumes it.`,
    links: [],
    workflow: null,
    command,
  };
}
