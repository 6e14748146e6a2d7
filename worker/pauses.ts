import type { KubeConfig } from '@kubernetes/client-node';
import { connectKubernetes } from '../activities/kubernetes/kubernetes.ts';
import { readPauseConfigMaps } from '../activities/kernel/pause.ts';
import { PauseView } from '../activities/kernel/pause-view.ts';
import { watchPauses } from '../activities/kernel/pause-watch.ts';
import { PAUSES } from '../domain/kernel/pause.ts';
import { scopeOfPauseKey } from '../domain/kernel/stored-pause.ts';
import type { Config } from './config.ts';
import type { Log } from '../platform/log/log.ts';

/** The process's cached view of the pauses, watched until the signal is aborted. */
export function openPauseView({
  config,
  kubeConfig,
  signal,
  log,
}: {
  readonly config: Config;
  readonly kubeConfig: KubeConfig;
  readonly signal: AbortSignal;
  readonly log: Log;
}): PauseView {
  const { systemNamespace } = config.kubernetes;
  const kubernetes = connectKubernetes(kubeConfig);
  const warned = new Set<string>();
  const view = new PauseView(async () => {
    const read = await readPauseConfigMaps({ kubernetes, systemNamespace });
    for (const key of Object.keys(read.pauses ?? {})) {
      if (warned.has(key) || scopeOfPauseKey(key) !== null) continue;
      warned.add(key);
      log.warn({ configMap: PAUSES, key }, 'A key of the ConfigMap stops nothing, because it names nothing.');
    }
    return read;
  });
  watchPauses(view, { kubeConfig, systemNamespace, signal, log });
  return view;
}
