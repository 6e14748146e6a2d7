/** Karpenter with its own kwok provider, on a control plane of its own. */
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CustomObjectsApi } from '@kubernetes/client-node';
import { freePort } from '../../test/kernel/servers/free-port.ts';
import { untilReady } from '../../test/kernel/servers/readiness.ts';
import { startProcess } from '../../test/kernel/servers/supervised-process.ts';
import { accessOf } from '../../test/kernel/stack/access.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { applyManifests, applyObjects } from '../../test/kernel/stack/manifests.ts';
import { startNodePlane } from '../../test/node-group/plane.ts';
import { ARCHITECTURES, karpenterTypes } from './instance-types.ts';
import type { Side } from './side.ts';

const MODULE = join(import.meta.dirname, '../../tools/karpenter');
const USER = 'karpenter';

/** Nodes are taken back a second after their last pod, all at once, and never consolidated: the first placement is compared. */
const OBJECTS = [
  { apiVersion: 'karpenter.kwok.sh/v1alpha1', kind: 'KWOKNodeClass', metadata: { name: 'bench' }, spec: {} },
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'bench' },
    spec: {
      disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '1s', budgets: [{ nodes: '100%' }] },
      template: {
        spec: {
          expireAfter: 'Never',
          requirements: [
            { key: 'kubernetes.io/arch', operator: 'In', values: [...ARCHITECTURES] },
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          ],
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'bench' },
        },
      },
    },
  },
];

/** @throws Error when Go does not build Karpenter, or it does not become ready. */
export async function startKarpenterSide(log: (what: string) => void): Promise<Side> {
  log('building Karpenter, which takes minutes the first time');
  const { binary, definitions } = await builtKarpenter();
  log("starting Karpenter's control plane");
  const plane = await startNodePlane({ users: [{ name: USER, groups: ['system:masters'] }] });
  try {
    for (const folder of definitions) {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
      await applyManifests(
        plane.adminKubeconfig,
        files.map((name) => join(folder, name)),
      );
    }
    const custom = accessOf(plane.adminKubeconfig).makeApiClient(CustomObjectsApi);
    const pools = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' };
    await eventually('NodePools are served', async () => await custom.listClusterCustomObject(pools));
    const types = join(plane.dir, 'instance-types.json');
    await writeFile(types, JSON.stringify(karpenterTypes()));
    const health = await freePort();
    const karpenter = await startProcess({
      name: 'karpenter',
      command: binary,
      args: [],
      cwd: plane.dir,
      logFile: join(plane.dir, 'karpenter.log'),
      env: {
        KUBECONFIG: plane.kubeconfigFor(USER),
        DISABLE_LEADER_ELECTION: 'true',
        METRICS_PORT: String(await freePort()),
        HEALTH_PROBE_PORT: String(health),
        INSTANCE_TYPES_FILE_PATH: types,
      },
    });
    const stop = async (): Promise<void> => {
      await karpenter.stop();
      await plane.stop();
    };
    try {
      await untilReady(karpenter, async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok);
      await eventually('the NodePool is there', async () => {
        await applyObjects(plane.adminKubeconfig, OBJECTS);
        return true;
      });
      await eventually('the NodePool is ready', async () =>
        isReady(await custom.getClusterCustomObject({ ...pools, name: 'bench' })),
      );
    } catch (error) {
      await karpenter.stop();
      throw error;
    }
    return { name: 'Karpenter', users: [USER], claims: 'nodeclaims', plane, pids: { karpenter: karpenter.pid }, stop };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/**
 * Go keeps the program in its cache. It is none of the servers of tools/resolver: it cannot be asked for its version, by which the
 * resolver knows a binary to be the right one.
 */
async function builtKarpenter(): Promise<{ readonly binary: string; readonly definitions: readonly string[] }> {
  const go = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)('go', [...args], { cwd: MODULE })).stdout.trim();
  const binary = await go('tool', '-n', 'sigs.k8s.io/karpenter/kwok');
  const folder = await go('list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/karpenter');
  return { binary, definitions: [join(folder, 'pkg/apis/crds'), join(folder, 'kwok/apis/crds')] };
}

function isReady(object: unknown): boolean {
  const { status } = object as { status?: { conditions?: readonly { type: string; status: string }[] } };
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
