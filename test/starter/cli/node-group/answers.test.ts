import { describe, expect, it } from 'vitest';
import { GROUP_LABEL } from '../../../../domain/node-group/api/names.ts';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { nodeText, podText } from '../../../../starter/cli/node-group/answer-text.ts';
import { nodeAnswer, podAnswer } from '../../../../starter/cli/node-group/answers.ts';
import type { LocalPlan } from '../../../../starter/cli/node-group/local-plan.ts';
import { ONE_MOMENT } from '../../../../starter/cli/node-group/moment.ts';
import {
  boundTo,
  groupOf,
  machineOf,
  nodeOf,
  NOW,
  podOf,
  stateOf,
  typeOf,
} from '../../../domain/node-group/builders.ts';
import { localOf } from './local.ts';

const OLD = NOW - 86_400_000;
const instanceTypes = { pool: [typeOf('small', 4, 16)] };
const own = nodeOf('pool-1', undefined, { [GROUP_LABEL]: 'pool' });
const machine = machineOf('pool-1', 'pool', { node: 'pool-1', phase: 'Ready', createdAt: OLD });

function aboutPod(local: LocalPlan, pod: Pod, observes = false): readonly string[] {
  return podText(pod, podAnswer(local, pod), observes);
}

function aboutNode(local: LocalPlan, node: Node): readonly string[] {
  return nodeText(nodeAnswer(local, node), null);
}

describe('what is said of a pod', () => {
  it('that gets a new node, is which one, also where many pods go there', () => {
    const pods = Array.from({ length: 8 }, (_, index) => podOf(`p${index}`, { cpu: '2' }));
    const local = localOf(stateOf({ groups: [groupOf('pool')], instanceTypes, pods }));
    const last = podOf('p7', { cpu: '2' });
    expect(podAnswer(local, last)).toEqual({
      kind: 'newNode',
      group: 'pool',
      instanceType: 'small',
      count: 4,
      podCount: 8,
      reason: 'PendingPods',
    });
    expect(aboutPod(local, last, true)).toEqual([
      'default/p7: it gets one of 4 new nodes of small in pool (PendingPods).',
      '  The NodeGroup pool only observes: it creates no node until its mode is act.',
    ]);
  });

  it('that no node would help, is the reason', () => {
    const pod = podOf('huge', { cpu: '64' });
    const local = localOf(stateOf({ groups: [groupOf('pool')], instanceTypes, pods: [pod] }));
    expect(podAnswer(local, pod)).toMatchObject({ kind: 'unhelped', reason: 'TooLarge' });
    expect(aboutPod(local, pod)[0]).toMatch(/^default\/huge: no new node \(TooLarge\): .*small of pool.*\.$/);
  });

  it('that fits a node which is there, is its name', () => {
    const pod = podOf('web', { cpu: '1' });
    const local = localOf(stateOf({ nodes: [own], pods: [pod] }));
    expect(aboutPod(local, pod)).toEqual([
      'default/web: it fits node pool-1, where it is to be placed (FitsExisting).',
    ]);
  });

  it('that is on a node, is that, and what becomes of the node', () => {
    const pod = boundTo('pool-1', podOf('web', { cpu: '1' }));
    const local = localOf(stateOf({ nodes: [own], pods: [pod] }));
    expect(aboutPod(local, pod)).toEqual([
      'default/web: it is on node pool-1.',
      'pool-1 of pool: Headroom leaves it alone: its NodeGroup pool is not there.',
    ]);
  });

  it('that waits for no node, is why', () => {
    const local = localOf(stateOf());
    const waiting = podOf('web', { cpu: '1' });
    expect(aboutPod(local, { ...waiting, unscheduled: null })).toEqual([
      'default/web: kube-scheduler has not said yet that it fits nowhere; until then, no node is looked for.',
    ]);
    expect(aboutPod(local, { ...waiting, deletesAt: NOW })).toEqual([
      'default/web: it is being deleted, and makes no node.',
    ]);
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
    const message = '0/1 nodes are available: 1 Too many pods.';
    const unscheduled = { reason: 'Unschedulable', message, since: NOW, writtenAt: NOW };
    expect(aboutPod(local, { ...waiting, owner, unscheduled })).toEqual([
      'default/web: it is of a DaemonSet, which has a pod on each node and makes none.',
      '  kube-scheduler: 0/1 nodes are available: 1 Too many pods.',
    ]);
  });
});

describe('what is said of a node', () => {
  it('that nothing needs, is how long that must be so, and not since when, which a command cannot know', () => {
    const local = localOf(stateOf({ groups: [groupOf('pool')], nodes: [own], machines: [machine] }));
    expect(nodeAnswer(local, own)).toMatchObject({ kind: 'stays', reason: 'NotUnneededLongEnough' });
    expect(aboutNode(local, own)).toEqual([
      'pool-1 of pool: it stays (NotUnneededLongEnough): nothing needs it now; it may go when that has been so for 10 min.',
      `  ${ONE_MOMENT}`,
    ]);
  });

  it('that may go, is why', () => {
    const scaleDown = { ...groupOf('pool').scaleDown, stabilizationMs: 0 };
    const groups = [groupOf('pool', { scaleDown })];
    const local = localOf(stateOf({ groups, nodes: [own], machines: [machine] }));
    expect(aboutNode(local, own)).toEqual([
      'pool-1 of pool: it may go (Empty): no pod needs it now.',
      '  0 pods are evicted.',
    ]);
  });

  it('that stays, is the first check that it does not pass', () => {
    const groups = [groupOf('pool', { minNodes: 1 })];
    const local = localOf(stateOf({ groups, nodes: [own], machines: [machine] }));
    expect(aboutNode(local, own)).toEqual([
      'pool-1 of pool: it stays (AtMinimum): pool would have 0 ready nodes, and its minimum is 1.',
    ]);
  });

  it('that is none of Headroom, or not yet, is that', () => {
    const foreign = nodeOf('other');
    const groups = [groupOf('pool')];
    const bare = localOf(stateOf({ groups, nodes: [foreign, own] }));
    expect(aboutNode(bare, foreign)).toEqual([
      `other: Headroom leaves it alone: it belongs to no NodeGroup: it has no label ${GROUP_LABEL}.`,
    ]);
    expect(aboutNode(bare, own)).toEqual([
      'pool-1 of pool: Headroom leaves it alone: it has the label of pool, but no VPSieNode of that group became it.',
    ]);
    const joining = { ...machine, phase: 'Joining' } as const;
    expect(aboutNode(localOf(stateOf({ groups, nodes: [own], machines: [joining] })), own)).toEqual([
      'pool-1 of pool: it is on its way; whether it is needed is asked when it has been ready once.',
    ]);
    const going = { ...machine, isDeleting: true };
    expect(aboutNode(localOf(stateOf({ groups, nodes: [own], machines: [going] })), own)).toEqual([
      'pool-1 of pool: its machine is being deleted.',
    ]);
  });

  it('that is being drained, is by which workflow, and how far that is', () => {
    const { annotations } = markPatch(own, 'node-drain/prod/u', NOW).metadata;
    const marked = { ...own, annotations: annotations as Node['annotations'] };
    const local = localOf(
      stateOf({ groups: [groupOf('pool')], nodes: [marked], machines: [machine], leaving: ['pool-1'] }),
    );
    const answer = nodeAnswer(local, marked);
    expect(answer).toMatchObject({ kind: 'draining', workflow: 'node-drain/prod/u' });
    const drain = {
      target: { cluster: 'prod', group: 'pool', node: 'pool-1', uid: 'u' },
      phase: 'Draining',
      reason: 'Evicting',
      detail: '2 of 3 pods are gone',
      facts: ['default/web is ending'],
      since: '2026-01-01T00:00:00Z',
      paused: null,
      lastCommand: null,
    } as const;
    expect(nodeText(answer, drain)).toEqual([
      'pool-1 of pool: it is being drained by node-drain/prod/u.',
      '  Draining (Evicting): 2 of 3 pods are gone.',
      '  default/web is ending.',
    ]);
  });
});
