import type { KubeConfig } from '@kubernetes/client-node';
import { connectKubernetes } from '../activities/kubernetes/kubernetes.ts';
import { readPauseConfigMaps } from '../activities/kernel/pause.ts';
import { PauseView } from '../activities/kernel/pause-view.ts';
import { watchPauses } from '../activities/kernel/pause-watch.ts';
import type { Config } from './config.ts';
import type { Log } from '../platform/log/log.ts';

/** The pauses as this process knows them, watched until the signal is aborted. */
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
  const view = new PauseView(async () => await readPauseConfigMaps({ kubernetes, systemNamespace }));
  watchPauses(view, { kubeConfig, systemNamespace, signal, log });
  return view;
}
