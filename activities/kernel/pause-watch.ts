import type { KubeConfig, V1ConfigMap } from '@kubernetes/client-node';
import { PAUSE_EVERYTHING, PAUSES } from '../../domain/kernel/pause.ts';
import type { PauseConfigMaps } from '../../domain/kernel/stored-pause.ts';
import type { Logger } from 'pino';
import { type Informer, openInformer } from '../kubernetes/informer.ts';
import { pauseConfigMapsOf } from './pause.ts';
import type { PauseView } from './pause-view.ts';

export interface PauseWatch {
  /** By the name of the ConfigMap. */
  readonly informers: Readonly<Record<string, Informer<V1ConfigMap>>>;
  /** As the watches have them. */
  present(): PauseConfigMaps;
  stop(): Promise<void>;
}

/**
 * Watches both ConfigMaps until the signal is aborted, and reports changes and interruptions of the watch to the view: without a
 * watch, every write reads the ConfigMaps.
 */
export function watchPauses(
  view: PauseView,
  {
    kubeConfig,
    systemNamespace,
    onChange,
    ...context
  }: {
    readonly kubeConfig: KubeConfig;
    readonly systemNamespace: string;
    /** After the view has been told. */
    readonly onChange?: (name: string) => void;
    readonly signal: AbortSignal;
    readonly log: Logger;
  },
): PauseWatch {
  const informerOf = (name: string): Informer<V1ConfigMap> => {
    const changed = (): void => {
      view.changed();
      onChange?.(name);
    };
    return openInformer<V1ConfigMap>(
      kubeConfig,
      {
        name: `configmaps ${name}`,
        path: `/api/v1/namespaces/${systemNamespace}/configmaps`,
        fieldSelector: `metadata.name=${name}`,
        onChange: changed,
        onDelete: changed,
        onState: () => view.watched(everything.staleSeconds() === 0 && pauses.staleSeconds() === 0),
        onEnd: () => view.watched(false),
      },
      context,
    );
  };
  const everything = informerOf(PAUSE_EVERYTHING);
  const pauses = informerOf(PAUSES);
  return {
    informers: { [PAUSE_EVERYTHING]: everything, [PAUSES]: pauses },
    present: () =>
      pauseConfigMapsOf(
        everything.get(PAUSE_EVERYTHING, systemNamespace) ?? null,
        pauses.get(PAUSES, systemNamespace) ?? null,
      ),
    stop: async () => {
      await Promise.all([everything.stop(), pauses.stop()]);
    },
  };
}
