/** The pauses in their ConfigMap, written with the user's permissions. */
import { keyOf, readPauseConfigMaps, writePause } from '../../activities/kernel/pause.ts';
import { type Pause, PAUSES } from '../../domain/kernel/pause.ts';
import { type PauseConfigMaps, upgradePause } from '../../domain/kernel/stored-pause.ts';
import { statusCode } from '../../activities/kubernetes/failure.ts';
import { type Cluster, readingFailure, withCluster } from './cluster.ts';
import type { LoadedConfig } from './controller.ts';

export { keyOf };

type Scope = Parameters<typeof keyOf>[0];

/** @throws {CommandFailed} where the ConfigMaps cannot be read. */
export async function readPauses(loaded: LoadedConfig): Promise<PauseConfigMaps> {
  return await withPauses(loaded, async (options) => await readPauseConfigMaps(options));
}

/** Saves a pause. @returns an existing pause, which then stays in force; null when there was none. */
export async function keepPause(loaded: LoadedConfig, scope: Scope, pause: Pause): Promise<Pause | null> {
  return await withPauses(loaded, async (options) => {
    const { pauses } = await readPauseConfigMaps(options);
    const before = pauses?.[keyOf(scope)];
    if (before !== undefined) return upgradePause(before);
    if (pauses === null) await ensureConfigMap(options);
    await writePause(options, scope, pause);
    return null;
  });
}

/** Takes a pause away. @returns whether there was one. */
export async function endPause(loaded: LoadedConfig, scope: Scope): Promise<boolean> {
  return await withPauses(loaded, async (options) => {
    const { pauses } = await readPauseConfigMaps(options);
    if (pauses?.[keyOf(scope)] === undefined) return false;
    await writePause(options, scope, null);
    return true;
  });
}

interface Options {
  readonly kubernetes: Cluster['kubernetes'];
  readonly systemNamespace: string;
}

/** A concurrent first pause may have created it. */
async function ensureConfigMap({ kubernetes, systemNamespace }: Options): Promise<void> {
  const body = { metadata: { name: PAUSES } };
  try {
    await kubernetes.core.createNamespacedConfigMap({ namespace: systemNamespace, body });
  } catch (error) {
    if (statusCode(error) !== 409) throw error;
  }
}

async function withPauses<T>(loaded: LoadedConfig, use: (options: Options) => Promise<T>): Promise<T> {
  const { systemNamespace } = loaded.config.kubernetes;
  return await withCluster(loaded, async ({ kubernetes }) => {
    try {
      return await use({ kubernetes, systemNamespace });
    } catch (error) {
      throw readingFailure(
        error,
        `headroom pause, resume and pauses need get, create and patch of the ConfigMaps of ${systemNamespace}, with your own rights.`,
      );
    }
  });
}
