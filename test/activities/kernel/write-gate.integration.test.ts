/** The gate in front of writes, before a real API server: what each of its answers means. */
import { AdmissionregistrationV1Api, CoreV1Api } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesFailure } from '../../../activities/kubernetes/failure.ts';
import { WriteGate, type WriteGateOptions } from '../../../activities/kernel/write-gate.ts';
import { workerTrials } from '../../../activities/kernel/worker-trials.ts';
import { type ClosableKubeConfig, loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyObjects, readManifests } from '../../kernel/stack/manifests.ts';
import { applyRights } from '../../kernel/stack/chart.ts';
import { untilAllowed } from '../until-allowed.ts';

const SYSTEM = 'namespace-resizer-system';
const WORKER = `system:serviceaccount:${SYSTEM}:headroom-worker`;
/** A user without any role. */
const NOBODY = 'nobody';
let plane: ControlPlane;
const open: ClosableKubeConfig[] = [];
const over = new AbortController();

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: WORKER }, { name: NOBODY }]);
  await applyRights(plane.adminKubeconfig);
  await untilAllowed(plane.adminKubeconfig, WORKER, [{ verb: 'create', resource: 'events', namespace: SYSTEM }]);
});
afterAll(async () => {
  over.abort();
  for (const config of open) await config.close();
  await plane?.stop();
});

/** A process of this user, whose gate has begun to try. */
function given(user: string, mode: WriteGateOptions['mode'] = 'required') {
  const gate = new WriteGate({ mode, log: pino({ enabled: false }) });
  const kubeConfig = loadKubeConfig(
    {
      kubeconfig: plane.kubeconfigFor(user),
      context: undefined,
      requestTimeoutMs: 30_000,
      beforeWrite: gate.beforeWrite,
    },
    {},
  );
  open.push(kubeConfig);
  const core = kubeConfig.makeApiClient(CoreV1Api);
  return {
    gate,
    keepTrying: () => void gate.keepTrying({ kubeConfig, trials: workerTrials(SYSTEM), signal: over.signal }),
    write: async () =>
      await core.createNamespacedEvent({
        namespace: SYSTEM,
        body: {
          metadata: { generateName: 'written.' },
          involvedObject: { namespace: SYSTEM },
          source: { component: 'headroom' },
          reportingComponent: 'headroom',
        },
      }),
  };
}

describe('the gate', () => {
  it('lets nothing through before it has tried anything', async () => {
    const { write } = given(WORKER);
    await expect(write()).rejects.toThrow('has not been tried yet');
  });

  it('lets through what is written while the policy refuses what it has to', async () => {
    const { gate, keepTrying, write } = given(WORKER);
    keepTrying();
    await eventually('the policy is proved', () => gate.condition().ready);
    expect((await write()).metadata?.name).toMatch(/^written\./);
  });

  it('is shut where the roles refuse the trial, as nobody knows then; the activity fails as by a pause of everything', async () => {
    const { gate, keepTrying, write } = given(NOBODY);
    keepTrying();
    const error = await write().catch((failed: unknown) => kubernetesFailure(failed));
    expect(error).toMatchObject({ type: 'GloballyPaused', nonRetryable: true });
    expect(String(error)).toMatch(/it cannot be told.*nobody-writes.*cannot create resource "events"/);
    expect(gate.condition()).toMatchObject({ ready: false });
  });

  it('where it is only observed everything is sent, and the readiness has a warning', async () => {
    const { gate, keepTrying, write } = given(NOBODY, 'observed');
    keepTrying();
    // As far as its own roles go.
    await expect(write()).rejects.toThrow('cannot create resource');
    await eventually('it is said', () => JSON.stringify(gate.condition()).includes('it cannot be told'));
    expect(gate.condition()).toMatchObject({ ready: true });
  });

  it('a process that has nothing to write is ready, and writes nothing', async () => {
    const { gate, write } = given(WORKER);
    await gate.keepTrying({ kubeConfig: accessOf(plane.adminKubeconfig), trials: [], signal: over.signal });
    expect(gate.condition()).toEqual({ ready: true });
    await expect(write()).rejects.toThrow('nothing to write');
  });

  it("is shut where somebody else's policy refuses the trial first, and says whose", async () => {
    const admission = accessOf(plane.adminKubeconfig).makeApiClient(AdmissionregistrationV1Api);
    await applyObjects(plane.adminKubeconfig, readManifests(FOREIGN_POLICY));
    await admission.deleteValidatingAdmissionPolicyBinding({ name: 'headroom-worker-writes' });
    // The API server goes by the policies that it had for a moment, and what was proved then would stand.
    await eventually('it says whose', async () => {
      const { keepTrying, write } = given(WORKER);
      keepTrying();
      const message = await write().then(
        () => '',
        (error: unknown) => String(error),
      );
      return /it cannot be told.*'no-trials'/.test(message);
    });
  });
});

const FOREIGN_POLICY = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: no-trials
spec:
  matchConstraints:
    resourceRules:
      - { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [events] }
  validations:
    - expression: "object.?reportingComponent.orValue('') == 'headroom'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: no-trials
spec:
  policyName: no-trials
  validationActions: [Deny]
`;
