import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeConfig, Watch } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { PAUSE_EVERYTHING, PAUSES } from '../../domain/kernel/pause.ts';
import type { PauseView } from './pause-view.ts';

/** Delay before a watch is opened again, in milliseconds; with jitter, because every worker has a watch. */
const RESTART_MS = 2_000;
/** The API server ends a watch after this time, which reveals a broken connection at the latest. */
const WATCH_SECONDS = 240;

/**
 * Watches both ConfigMaps until the signal is aborted, and reports changes and interruptions of the watch to the view.
 */
export function watchPauses(
  view: PauseView,
  {
    kubeConfig,
    systemNamespace,
    signal,
    log,
  }: {
    readonly kubeConfig: KubeConfig;
    readonly systemNamespace: string;
    readonly signal: AbortSignal;
    readonly log: Pick<Logger, 'warn' | 'debug'>;
  },
): void {
  const alive = new Set<string>();
  const path = `/api/v1/namespaces/${encodeURIComponent(systemNamespace)}/configmaps`;
  const setAlive = (name: string, isAlive: boolean): void => {
    if (isAlive) alive.add(name);
    else alive.delete(name);
    view.watched(alive.size === 2);
  };
  const watchOnce = async (name: string): Promise<void> => {
    const watch = new Watch(kubeConfig);
    Object.assign(watch, { requestTimeoutMs: (WATCH_SECONDS + 30) * 1000 });
    await new Promise<void>((resolve, reject) => {
      const query = { fieldSelector: `metadata.name=${name}`, timeoutSeconds: WATCH_SECONDS };
      const done = (error: unknown): void => (error instanceof Error ? reject(error) : resolve());
      watch
        .watch(path, query, () => view.changed(), done)
        .then((controller) => {
          if (signal.aborted) controller.abort();
          else signal.addEventListener('abort', () => controller.abort(), { once: true });
          setAlive(name, true);
        }, reject);
    });
  };
  const keepWatching = async (name: string): Promise<void> => {
    while (!signal.aborted) {
      try {
        await watchOnce(name);
      } catch (error) {
        // Without a watch, every write reads the ConfigMaps.
        if (!signal.aborted) log.warn({ err: error, configMap: name }, 'the watch of the pauses ended');
      }
      setAlive(name, false);
      await sleep(RESTART_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
    }
  };
  for (const name of [PAUSE_EVERYTHING, PAUSES]) void keepWatching(name);
}
