import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';

/** All pods of a node. */
export async function podsOn({ core }: Pick<Kubernetes, 'core'>, node: string): Promise<readonly Pod[]> {
  const fieldSelector = `spec.nodeName=${node}`;
  const pods = await listAll((range) => core.listPodForAllNamespaces({ ...range, fieldSelector }));
  return pods.map(({ metadata, spec, status }) => readPod({ metadata, spec, status }));
}
