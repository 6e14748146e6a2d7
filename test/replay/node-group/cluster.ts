/** A cluster with node groups, in which other controllers and the provider do what scenarios need. */
import { V1MicroTime } from '@kubernetes/client-node';
import { AUTOSCALER_LEASE, NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { nodeGroupId } from '../../../domain/node-group/target.ts';
import type { NodeGroupRunStatus } from '../../../workflows/node-group/messages.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { type KwokType, merge, NodeGroupCluster } from '../../node-group/headroom/cluster.ts';

export class RecordedCluster extends NodeGroupCluster {
  /** What kwok's instance types are from now on; a text is no list of them. */
  async setTypes(types: readonly KwokType[] | string): Promise<void> {
    const body = { data: { types: typeof types === 'string' ? types : JSON.stringify(types) } };
    await this.core.patchNamespacedConfigMap({ namespace: NAMESPACE, name: 'kwok-instance-types', body }, merge);
  }

  /** The VPSie autoscaler leads, until what this resolves to is called. */
  async leadVpsieAutoscaler(): Promise<() => Promise<void>> {
    const lease = { namespace: NAMESPACE, name: AUTOSCALER_LEASE };
    const spec = { holderIdentity: 'autoscaler-0', leaseDurationSeconds: 15, renewTime: new V1MicroTime(Date.now()) };
    const body = { metadata: { name: AUTOSCALER_LEASE }, spec };
    await this.coordination.createNamespacedLease({ namespace: NAMESPACE, body });
    return async () => void (await this.coordination.deleteNamespacedLease(lease));
  }

  handle(group: string) {
    return this.plane.client.workflow.getHandle(nodeGroupId({ cluster: CLUSTER, group }));
  }

  /** Until the workflow of a group stands in a phase, for a reason if one is named. */
  async reaches(
    group: string,
    phase: NodeGroupRunStatus['phase'],
    reason: NodeGroupRunStatus['reason'] | null = null,
  ): Promise<void> {
    const what = reason === null ? phase : `${phase} (${reason})`;
    await this.untilStatus(group, what, (seen) => seen.phase === phase && (reason === null || seen.reason === reason));
  }
}
