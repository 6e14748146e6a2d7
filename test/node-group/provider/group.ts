import { readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import type { NodeGroup, Provider } from '../../../domain/node-group/model/node-group.ts';

/** A NodeGroup with the offerings of the contract. */
export function groupOf(provider: Provider, name: string, spec: object = {}): NodeGroup {
  const { group, problems } = readNodeGroup(
    {
      metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1, namespace: 'kube-system' },
      spec: {
        provider,
        mode: 'act',
        minNodes: 0,
        maxNodes: 100,
        offeringIDs: ['small', 'large', 'withdrawn'],
        ...spec,
      },
    },
    { mode: 'act' },
  );
  if (group === null) throw new Error(problems.join('; '));
  return group;
}
