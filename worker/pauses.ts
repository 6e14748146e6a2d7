import type { KubeConfig } from '@kubernetes/client-node';
import { connectKubernetes } from '../activities/kubernetes/kubernetes.ts';
import { readPauseConfigMaps } from '../activities/kernel/pause.ts';
import { PauseView } from '../activities/kernel/pause-view.ts';
import { watchPauses } from '../activities/kernel/pause-watch.ts';
import { PAUSES } from '../domain/kernel/pause.ts';
import { type PauseConfigMaps, scopeOfPauseKey } from '../domain/kernel/stored-pause.ts';
import type { Config } from './config.ts';
import type { Log } from '../platform/log/log.ts';

/** The process's cached view of the pauses, watched until the signal is aborted. */
export function openPauseView({
  config,
  kubeConfig,
  held,
  signal,
  log,
}: {
  readonly config: Config;
  readonly kubeConfig: KubeConfig;
  /** Why nothing may be written at all. */
  readonly held: ConstructorParameters<typeof PauseView>[2];
  readonly signal: AbortSignal;
  readonly log: Log;
}): PauseView {
  const { systemNamespace } = config.kubernetes;
  const kubernetes = connectKubernetes(kubeConfig);
  const warned = new Set<string>();
  const readMaps = async (): Promise<PauseConfigMaps> => {
    const read = await readPauseConfigMaps({ kubernetes, systemNamespace });
    for (const key of Object.keys(read.pauses ?? {})) {
      if (warned.has(key) || scopeOfPauseKey(key) !== null) continue;
      warned.add(key);
      log.warn({ configMap: PAUSES, key }, 'A key of the ConfigMap stops nothing, because it names nothing.');
    }
    return read;
  };
  const view = new PauseView(readMaps, undefined, held);
  watchPauses(view, { kubeConfig, systemNamespace, signal, log });
  return view;
}
