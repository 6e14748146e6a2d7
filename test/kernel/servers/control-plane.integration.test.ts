import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

/** Milliseconds for controllers on a busy machine. */
const PATIENT = { timeout: 60_000, interval: 50 };

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ users: [{ name: 'reader', groups: ['readers'] }, { name: 'nobody' }] });
});

afterAll(async () => {
  await plane.stop();
});

function clusterOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

function core(kubeconfig = plane.adminKubeconfig): CoreV1Api {
  return clusterOf(kubeconfig).makeApiClient(CoreV1Api);
}

describe('the control plane', () => {
  it('a Deployment of 6 × 500m against a quota of 2 CPUs gets 4 pods, and FailedCreate events for the rest', async () => {
    const namespace = 'quota';
    await core().createNamespace({ body: { metadata: { name: namespace } } });
    await core().createNamespacedResourceQuota({
      namespace,
      body: { metadata: { name: 'compute' }, spec: { hard: { 'requests.cpu': '2' } } },
    });
    const container = (cpu: string) => ({ name: 'web', image: 'web:1', resources: { requests: { cpu } } });
    // Admission has a cache of its own, and while that is behind the quota's first count it lets every pod in.
    const tooLarge = { metadata: { name: 'too-large' }, spec: { containers: [container('3')] } };
    await vi.waitFor(
      () =>
        expect(core().createNamespacedPod({ namespace, dryRun: 'All', body: tooLarge })).rejects.toThrow(
          'exceeded quota',
        ),
      PATIENT,
    );
    await clusterOf(plane.adminKubeconfig)
      .makeApiClient(AppsV1Api)
      .createNamespacedDeployment({
        namespace,
        body: {
          metadata: { name: 'web' },
          spec: {
            replicas: 6,
            selector: { matchLabels: { app: 'web' } },
            template: {
              metadata: { labels: { app: 'web' } },
              spec: { containers: [container('500m')] },
            },
          },
        },
      });

    await vi.waitFor(async () => {
      const quota = await core().readNamespacedResourceQuota({ namespace, name: 'compute' });
      expect(quota.status?.used).toEqual({ 'requests.cpu': '2' });
    }, PATIENT);
    await vi.waitFor(async () => {
      const events = await core().listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
      expect(events.items.map((event) => event.message)).toContainEqual(
        expect.stringMatching(
          /^Error creating: pods "web-\w+-\w+" is forbidden: exceeded quota: compute, requested: requests.cpu=500m, used: requests.cpu=2, limited: requests.cpu=2$/,
        ),
      );
    }, PATIENT);
    // A pod is charged a moment before it is there.
    await vi.waitFor(async () => {
      expect((await core().listNamespacedPod({ namespace })).items).toHaveLength(4);
    }, PATIENT);
  });

  it('a user may do what RBAC grants and nothing else', async () => {
    const reader = core(plane.kubeconfigFor('reader'));
    await expect(reader.listNamespace()).rejects.toMatchObject({ code: 403 });
  });

  it('the audit log holds the requests of users with their outcome, and none of the control plane itself', async () => {
    await core().createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'audited' } } });
    await core(plane.kubeconfigFor('nobody'))
      .listNamespacedSecret({ namespace: 'default' })
      .catch(() => {});

    await vi.waitFor(async () => {
      const events = await plane.auditEvents();
      const summary = events.map(({ user, verb, objectRef, responseStatus }) =>
        [user.username, verb, objectRef?.resource, objectRef?.name, responseStatus?.code].join(' '),
      );
      expect(summary).toContain('admin create configmaps audited 201');
      expect(summary).toContain('nobody list secrets  403');
      expect(new Set(events.map((event) => event.user.username))).toEqual(new Set(['admin', 'reader', 'nobody']));
    }, PATIENT);
  });

  it('the API server can be away for a while, and comes back with the same address and data', async () => {
    await core().createNamespace({ body: { metadata: { name: 'kept' } } });
    await plane.killApiServer();
    await expect(core().readNamespace({ name: 'kept' })).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await plane.startApiServer();
    expect((await core().readNamespace({ name: 'kept' })).status?.phase).toBe('Active');
  });

  it('the controllers go on after the API server was restarted', async () => {
    await plane.restartApiServer();
    await core().createNamespace({ body: { metadata: { name: 'after-restart' } } });
    // Kubernetes' clients come back after 0.8 s at first, twice as long each time until 30 s, and up to twice that at random;
    // and this is the second time in a row that the API server was away.
    await vi.waitFor(() => core().readNamespacedServiceAccount({ namespace: 'after-restart', name: 'default' }), {
      ...PATIENT,
      timeout: 100_000,
    });
  });

  it('a rotated token is in the same kubeconfig, and the old one is refused', async () => {
    const file = plane.kubeconfigFor('reader');
    const before = core(file);
    await plane.rotateToken('reader');
    await expect(before.listNamespace()).rejects.toMatchObject({ code: 401 });
    await expect(core(file).listNamespace()).rejects.toMatchObject({ code: 403 });
  });

  it('a user that was not named at the start is an error that lists those that were', () => {
    expect(() => plane.kubeconfigFor('reeder')).toThrow(/no user reeder; .* which has admin, .*reader, nobody/);
  });

  it('two can start at the same time and know nothing of each other', async () => {
    const planes = await Promise.all([startControlPlane(), startControlPlane()]);
    try {
      const [first, second] = planes;
      await core(first.adminKubeconfig).createNamespace({ body: { metadata: { name: 'only-in-the-first' } } });
      await expect(core(second.adminKubeconfig).readNamespace({ name: 'only-in-the-first' })).rejects.toMatchObject({
        code: 404,
      });
      // What they begin with is the same, and tells neither from the other.
      const uids = await Promise.all(
        planes.map(async ({ adminKubeconfig }) => {
          const { metadata } = await core(adminKubeconfig).readNamespace({ name: 'kube-system' });
          return metadata?.uid;
        }),
      );
      expect(uids[0]).not.toBe(uids[1]);
    } finally {
      await Promise.all(planes.map((each) => each.stop()));
    }
  });
});
