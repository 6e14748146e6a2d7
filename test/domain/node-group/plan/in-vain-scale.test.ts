/** What the proof costs in a large cluster: each pod is hashed a few times in a plan, however many nodes came in vain. */
import { expect, it, vi } from 'vitest';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { podKind } from '../../../../domain/node-group/plan/pod-kind.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

vi.mock(import('../../../../domain/node-group/plan/pod-kind.ts'), async (original) => {
  const module = await original();
  return { ...module, podKind: vi.fn(module.podKind) };
});

it('a plan hashes each pod a few times, however many nodes and kinds there are', () => {
  const labels = {
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/instance-type': 'small',
  };
  const nodes = Array.from({ length: 30 }, (_, index) =>
    nodeOf(`n${index}`, { cpu: '2', memory: '16Gi', pods: '110' }, labels),
  );
  const waiting = nodes.flatMap((_, index) =>
    [0, 1].map((of) => podOf(`p${index}-${of}`, { cpu: `${3000 + 2 * index + of}m` })),
  );
  const machines = nodes.map(({ name: node }, index) => {
    const cameFor = waiting.slice(2 * index, 2 * index + 2).map(podKind);
    return machineOf(`m${index}`, 'web', { node, phase: 'Ready', cameFor });
  });
  const running = nodes.map(({ name }) => boundTo(name, podOf(`on-${name}`, { cpu: '100m' })));
  const state = stateOf({
    at: NOW + 900_000,
    groups: [groupOf('web')],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    nodes,
    machines,
    pods: [...waiting, ...running],
  });
  vi.mocked(podKind).mockClear();
  const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] });
  expect(plan.inVain['web']).toHaveLength(60);
  expect(vi.mocked(podKind).mock.calls.length).toBeLessThan(3 * state.pods.length);
});
