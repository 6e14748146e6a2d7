/** The policy of the API server that a starter is to be held by, and what it says of it. */
import type { KubeConfig } from '@kubernetes/client-node';
import type { PolicyTrial } from '../activities/kernel/policy-proof.ts';
import type { WriteGate } from '../activities/kernel/write-gate.ts';
import { runningControllers } from '../domain/kernel/controllers.ts';
import type { HeadroomProcess } from '../platform/process/process.ts';
import type { Config } from './config.ts';
import { controllers } from './registry.ts';

/** Tries it until the process stops; the readiness says whether it is in force. */
export function watchWritePolicy(
  { config, readiness, signal }: HeadroomProcess<Config>,
  kubeConfig: KubeConfig,
  gate: WriteGate,
): void {
  const trials = writeTrialsOf(config);
  readiness.watch('write policy', () => gate.condition());
  void gate.keepTrying({ kubeConfig, trials, signal });
}

/** Writes that the roles of a starter with these settings allow and its policy has to refuse; none where it writes nothing. */
export function writeTrialsOf(config: Config): readonly PolicyTrial[] {
  return runningControllers(controllers, config).flatMap((name) => controllers[name].writeTrials?.(config) ?? []);
}
