/** What a plan says of one pod or one node, in words. */
import { sentence } from '../../../domain/kernel/sentence.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import type { NodeDrainStatus } from '../../../workflows/node-group/drain-messages.ts';
import type { NodeAnswer, PodAnswer } from './answers.ts';
import { isOnlyWaiting, ONE_MOMENT } from './moment.ts';

/** @param observes whether the group of its new nodes only says what it would do. */
export function podText(pod: Pod, answer: PodAnswer, observes: boolean): readonly string[] {
  const name = `${pod.namespace}/${pod.name}`;
  const { unscheduled } = pod;
  const scheduler =
    unscheduled === null || unscheduled.message === '' ? [] : [`kube-scheduler: ${unscheduled.message}`];
  switch (answer.kind) {
    case 'bound': {
      const lines = answer.node === null ? [] : nodeText(answer.node, null);
      return [`${name}: it is on node ${pod.node ?? ''}.`, ...lines];
    }
    case 'leaving':
      return [`${name}: it is being deleted, and makes no node.`];
    case 'daemonSet':
      return [`${name}: it is of a DaemonSet, which has a pod on each node and makes none.`, ...indented(scheduler)];
    case 'fits':
      return [`${name}: ${answer.detail} (${answer.reason}).`, ...indented(scheduler)];
    case 'unhelped':
      return [`${name}: no new node (${answer.reason}): ${answer.detail}.`, ...indented(scheduler)];
    case 'newNode': {
      const { count, instanceType, group } = answer;
      const what = count === 1 ? `a new node of ${instanceType}` : `one of ${count} new nodes of ${instanceType}`;
      const notes = observes ? [`the NodeGroup ${group} only observes: it creates no node until its mode is act`] : [];
      return [`${name}: it gets ${what} in ${group} (${answer.reason}).`, ...indented([...notes, ...scheduler])];
    }
    case 'awaitsScheduler':
      return [
        `${name}: kube-scheduler has not said yet that it fits nowhere; until then, no node is looked for.`,
        ...indented(scheduler),
      ];
  }
}

/** @param drain what the workflow that drains it says; null where none does, or it does not answer. */
export function nodeText(answer: NodeAnswer, drain: NodeDrainStatus | null): readonly string[] {
  const { name, group } = answer;
  const whose = group === null ? name : `${name} of ${group}`;
  switch (answer.kind) {
    case 'goes': {
      const { podCount, replacement } = answer;
      const pods = podCount === 1 ? '1 pod is evicted' : `${podCount} pods are evicted`;
      const first =
        replacement === null ? [] : [`a node of ${replacement.instanceType} is to be ready in its place first`];
      return [`${whose}: it may go (${answer.reason}): ${answer.detail}.`, ...indented([...first, pods])];
    }
    case 'stays': {
      const hint = isOnlyWaiting(answer) ? [ONE_MOMENT] : [];
      return [`${whose}: it stays (${answer.reason}): ${answer.detail}.`, ...indented(hint)];
    }
    case 'draining': {
      const shown = drain === null ? [] : [`${drain.phase} (${drain.reason}): ${drain.detail}`, ...drain.facts];
      return [`${whose}: it is being drained by ${answer.workflow}.`, ...indented(shown)];
    }
    case 'leaving':
      return [`${whose}: its machine is being deleted.`];
    case 'coming':
      return [`${whose}: it is on its way; whether it is needed is asked when it has been ready once.`];
    case 'unmanaged':
      return [`${whose}: Headroom leaves it alone: ${answer.detail}.`];
  }
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${sentence(line)}`);
}
