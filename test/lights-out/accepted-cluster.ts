/** A real API server without the controllers of workloads, on which schedules go through some of their nights, several side by side. */
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { CALENDAR } from '../../domain/lights-out/schedule/names.ts';
import { SCHEDULES } from '../../activities/lights-out/read-cluster.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import { AcceptedLane, SYSTEM_NAMESPACE } from './accepted-lane.ts';
import { CustomWorkloads, defineScaledObjects } from './custom-workloads.ts';

/** None of those that make pods, of which there may be two thousand million, and none that deletes what nobody owns. */
const ALMOST_NONE = '--controllers=namespace-controller';
const GATES = '--feature-gates=HPAScaleToZero=true';

export class AcceptingCluster {
  readonly lanes: readonly AcceptedLane[];
  readonly #plane: ControlPlane;

  private constructor(plane: ControlPlane, lanes: readonly AcceptedLane[]) {
    this.#plane = plane;
    this.lanes = lanes;
  }

  static async start(lanes: number): Promise<AcceptingCluster> {
    const plane = await startControlPlane({ apiServerFlags: [GATES], controllerManagerFlags: [ALMOST_NONE] });
    try {
      return new AcceptingCluster(plane, await makeReady(plane.adminKubeconfig, lanes));
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#plane.stop();
  }
}

async function makeReady(adminKubeconfig: string, count: number): Promise<readonly AcceptedLane[]> {
  const kubernetes: Kubernetes = connectKubernetes(accessOf(adminKubeconfig));
  const { core, custom } = kubernetes;
  await applyManifests(adminKubeconfig, [
    new URL('../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url),
  ]);
  await new CustomWorkloads(adminKubeconfig).define();
  await defineScaledObjects(custom);
  const namespaces = Array.from({ length: count }, (_, lane) => `lane-${lane}`);
  for (const name of [...namespaces, SYSTEM_NAMESPACE]) await core.createNamespace({ body: { metadata: { name } } });
  const days = '- { from: 12-24, to: 01-06, reason: Christmas }\n- { from: 2027-05-01, state: Up }';
  const body = { metadata: { name: 'holidays', labels: { [CALENDAR]: '' } }, data: { days } };
  await core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body });
  await eventually('schedules are known', async () => {
    await custom.listClusterCustomObject(SCHEDULES);
    return true;
  });
  return namespaces.map((_, lane) => new AcceptedLane(kubernetes, namespaces, lane));
}
