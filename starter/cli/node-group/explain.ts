/** `headroom node-groups explain`: what a plan of this moment says of one pod or one node. It only reads. */
import { ownValue } from '../../../domain/kernel/record.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { drainStatus, type NodeDrainStatus } from '../../../workflows/node-group/drain-messages.ts';
import { withClient } from '../connection.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import type { Output } from '../output.ts';
import { ANSWER_MS, innermost } from '../shared.ts';
import { nodeText, podText } from './answer-text.ts';
import { type NodeAnswer, nodeAnswer, podAnswer } from './answers.ts';
import type { ExplainArgument } from './arguments.ts';
import { type LocalPlan, localPlan } from './local-plan.ts';

/**
 * @throws {CommandFailed} where the cluster cannot be read.
 * @throws {UnknownName} where it has no such pod or node.
 */
export async function explainNodeGroups(
  loaded: LoadedConfig,
  argument: ExplainArgument,
  { output, shared }: CommandTools,
): Promise<void> {
  const local = await localPlan(loaded, output);
  const { json, lines } =
    argument.kind === 'pod' ? explainPod(local, argument) : await explainNode(loaded, local, argument.name, output);
  if (shared().output === 'json') {
    output.json({ cluster: local.cluster, at: new Date(local.plan.at).toISOString(), heldBy: local.heldBy, ...json });
    return;
  }
  const held = local.heldBy === null ? [] : [`Nothing is written for any NodeGroup: ${local.heldBy}.`];
  output.line(withRelativeTimes([...lines, ...held].join('\n'), local.plan.at));
}

interface Explained {
  readonly json: object;
  readonly lines: readonly string[];
}

function explainPod(local: LocalPlan, argument: Extract<ExplainArgument, { kind: 'pod' }>): Explained {
  const pod = podOf(local, argument);
  const answer = podAnswer(local, pod);
  const group = answer.kind === 'newNode' ? local.groups.find(({ name }) => name === answer.group) : undefined;
  const scheduler = pod.unscheduled?.message ?? null;
  return {
    json: { pod: { namespace: pod.namespace, name: pod.name, boundTo: pod.node, scheduler, ...answer } },
    lines: podText(pod, answer, group?.group?.mode === 'observe'),
  };
}

function podOf(
  { pods, namespaces, cluster }: LocalPlan,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Pod {
  const pod = pods.get(`${namespace}/${name}`);
  if (pod !== undefined) return pod;
  if (!namespaces.has(namespace)) {
    const meant = whatThereIs(namespace, [...namespaces.keys()].toSorted(), 'it has none');
    throw new UnknownName(`there is no namespace "${namespace}" in ${cluster}${meant}`);
  }
  const there = [...pods.values()].filter((each) => each.namespace === namespace).map((each) => each.name);
  const meant = whatThereIs(name, there.toSorted(), 'it has none');
  throw new UnknownName(`there is no pod "${name}" in ${namespace} that has not ended${meant}`);
}

async function explainNode(loaded: LoadedConfig, local: LocalPlan, name: string, output: Output): Promise<Explained> {
  const node = local.nodes.get(name);
  if (node === undefined) {
    const meant = whatThereIs(name, [...local.nodes.keys()].toSorted(), 'it has none');
    throw new UnknownName(`there is no node "${name}" in ${local.cluster}${meant}`);
  }
  const answer = nodeAnswer(local, node);
  const drain = await drainOf(loaded, answer, output);
  const [cpu, memory] = ownValue(local.usage ?? {}, name) ?? [];
  const uses = cpu === undefined || memory === undefined ? null : { cpu: Math.round(cpu), memory: Math.round(memory) };
  return {
    json: { node: { ...answer, uses, drain } },
    lines: [
      ...nodeText(answer, drain),
      ...(uses === null ? [] : [`  It uses ${uses.cpu} % of its CPU and ${uses.memory} % of its memory now.`]),
    ],
  };
}

/** What the workflow that drains it says; null, with a note, where it does not answer. */
async function drainOf(loaded: LoadedConfig, answer: NodeAnswer, output: Output): Promise<NodeDrainStatus | null> {
  if (answer.kind !== 'draining') return null;
  try {
    return await withClient(
      loaded.config,
      async (client) =>
        await client.withDeadline(
          Date.now() + ANSWER_MS,
          async () => await client.workflow.getHandle(answer.workflow).query(drainStatus),
        ),
    );
  } catch (error) {
    // Where the mark was left by a workflow that has ended, or nobody answers, the rest is still true.
    output.note(`How far its drain is, is not known: ${error instanceof Error ? innermost(error) : String(error)}`);
    return null;
  }
}
