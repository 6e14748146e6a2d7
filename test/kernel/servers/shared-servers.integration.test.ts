/** What a test file may rely on where it uses servers that others have used before. */
import { ApiextensionsV1Api, AppsV1Api, CoreV1Api, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { accessOf } from '../stack/access.ts';
import { eventually } from '../stack/eventually.ts';
import { applyManifests, applyObjects } from '../stack/manifests.ts';
import { createDeployment, podCount } from '../stack/workloads.ts';
import { borrowControlPlane } from './shared-control-plane.ts';
import { borrowTemporal } from './shared-temporal.ts';

const DEFINITION = new URL('../../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url);
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

it('a shared control plane is as it was at its start, whatever the file before has left in it', async () => {
  const first = await borrowControlPlane();
  const before = accessOf(first.adminKubeconfig);
  const core = before.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: 'left' } } });
  await createDeployment(before.makeApiClient(AppsV1Api), {
    namespace: 'left',
    name: 'web',
    replicas: 5,
    requests: { cpu: '10m' },
  });
  await eventually('its pods are there', async () => (await podCount(core, 'left')) === 5);
  await applyManifests(first.adminKubeconfig, [DEFINITION]);
  await core.patchNamespace({ name: 'default', body: { metadata: { labels: { changed: 'yes' } } } }, merge);
  await first.stop();

  const second = await borrowControlPlane();
  try {
    expect(second.url).toBe(first.url);
    expect(await second.auditEvents()).toEqual([]);
    const after = accessOf(second.adminKubeconfig);
    const fresh = after.makeApiClient(CoreV1Api);
    await eventually('what was there is gone from the caches of the API server too', async () => {
      const { items } = await fresh.listNamespace();
      const { items: definitions } = await after.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition();
      return items.every(({ metadata }) => metadata?.name !== 'left') && definitions.length === 0;
    });
    expect((await fresh.listPodForAllNamespaces()).items).toEqual([]);
    expect((await fresh.readNamespace({ name: 'default' })).metadata?.labels).not.toHaveProperty('changed');
    // A namespace of the same name is a new one, and its controllers work.
    await fresh.createNamespace({ body: { metadata: { name: 'left' } } });
    await createDeployment(after.makeApiClient(AppsV1Api), {
      namespace: 'left',
      name: 'web',
      replicas: 1,
      requests: { cpu: '10m' },
    });
    await eventually('one pod is there', async () => (await podCount(fresh, 'left')) === 1);
  } finally {
    await second.stop();
  }
});

it('a policy that the file before has left refuses nothing any more', async () => {
  const policy = (kind: string, spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'left' },
    spec,
  });
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['namespaces'] };
  const first = await borrowControlPlane();
  await applyObjects(first.adminKubeconfig, [
    policy('ValidatingAdmissionPolicy', {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false' }],
    }),
    policy('ValidatingAdmissionPolicyBinding', { policyName: 'left', validationActions: ['Deny'] }),
  ]);
  const body = { metadata: { name: 'refused' } };
  const core = accessOf(first.adminKubeconfig).makeApiClient(CoreV1Api);
  await eventually('the policy is in force', async () =>
    core.createNamespace({ body, dryRun: 'All' }).then(
      () => false,
      (error: unknown) => String(error).includes('left'),
    ),
  );
  await first.stop();

  const second = await borrowControlPlane();
  try {
    expect(second.url).toBe(first.url);
    await accessOf(second.adminKubeconfig).makeApiClient(CoreV1Api).createNamespace({ body });
  } finally {
    await second.stop();
  }
});

it('one whose API server was killed is not lent again', async () => {
  const first = await borrowControlPlane();
  await first.killApiServer();
  await first.stop();
  const second = await borrowControlPlane();
  expect(second.url).not.toBe(first.url);
  await second.stop();
});

it('two that are borrowed at once are two, and an unknown user is said', async () => {
  await expect(borrowControlPlane([{ name: 'somebody' }])).rejects.toThrow('no user somebody: add it to USERS');
  const [first, second] = [await borrowControlPlane(), await borrowControlPlane()];
  expect(first.url).not.toBe(second.url);
  await Promise.all([first.stop(), second.stop()]);
});

it('a shared Temporal has a namespace for each, and cannot be killed', async () => {
  const [first, second] = [await borrowTemporal(), await borrowTemporal()];
  expect(first.address).toBe(second.address);
  expect(first.namespace).not.toBe(second.namespace);
  await expect(first.kill()).rejects.toThrow('this Temporal is shared');
});
