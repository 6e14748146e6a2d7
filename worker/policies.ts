/** The policies of the API server that a worker is to be held by, and what it says of them. */
import type { KubeConfig } from '@kubernetes/client-node';
import { PolicyProof } from '../activities/kernel/policy-proof.ts';
import { workerTrials } from '../activities/kernel/worker-trials.ts';
import { trialPace, type WriteGate } from '../activities/kernel/write-gate.ts';
import { runningControllers } from '../domain/kernel/controllers.ts';
import type { HeadroomProcess } from '../platform/process/process.ts';
import type { Config } from './config.ts';
import { controllers } from './registry.ts';

/** Tries them until the process stops; the readiness says which of them is not in force. */
export function watchPolicies(
  { config, log, readiness, signal }: HeadroomProcess<Config>,
  kubeConfig: KubeConfig,
  gate: WriteGate,
): void {
  const { systemNamespace, writePolicy } = config.kubernetes;
  readiness.watch('write policy', () => gate.condition());
  void gate.keepTrying({ kubeConfig, trials: workerTrials(systemNamespace), signal });
  const policies = runningControllers(controllers, config).flatMap((name) => controllers[name].policies ?? []);
  for (const { name, trial, without } of policies) {
    const proof = new PolicyProof({
      kubeConfig,
      trials: [trial(systemNamespace)],
      policyOf: () => name,
      pace: trialPace(writePolicy),
      onChange: (why) => {
        if (why !== null) log.warn({ policy: name }, `${why}. ${without}`);
      },
    });
    readiness.watch(`policy ${name}`, () => {
      const { trouble } = proof;
      return trouble === null ? { ready: true } : { ready: true, warning: `${trouble}. ${without}` };
    });
    void proof.keepTrying(signal);
  }
}
