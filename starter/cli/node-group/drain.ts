/** `headroom node-groups drain` and `stop-drain`: commands about one node, whose group and workflow are found by the node. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { isRecord } from '../../../domain/kernel/record.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import { readMachine } from '../../../domain/node-group/api/machine.ts';
import {
  GROUP,
  GROUP_LABEL,
  MACHINE_PLURAL,
  NAMESPACE,
  PLURAL,
  VERSION,
} from '../../../domain/node-group/api/names.ts';
import { readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import type { Machine } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { nodeDrainId, nodeGroupId } from '../../../domain/node-group/target.ts';
import { drainUpdates } from '../../../workflows/node-group/drain-messages.ts';
import { commandUpdates } from '../../../workflows/node-group/messages.ts';
import { type ApiGet, listPath, listPlainPages } from '../../../activities/kubernetes/api-get.ts';
import { withCluster } from '../cluster.ts';
import { withClient } from '../connection.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { answered, CommandFailed } from '../shared.ts';
import { chosen, type GroupObject, listGroups, listingFailure, nameOf, whyNobodyAnswers } from './groups.ts';
import { configInForce } from './in-force.ts';

export interface DrainCommand {
  readonly node: string;
  readonly by: string;
  readonly reason: string;
}

/**
 * Asks the workflow of the node's group to drain it.
 *
 * @throws {UnknownName} where there is no such node, or not the group that it names.
 * @throws {CommandFailed} where the node belongs to no group, or is being drained already.
 */
export async function drainNode(loaded: LoadedConfig, given: DrainCommand, tools: CommandTools): Promise<void> {
  const cluster = loaded.config.kubernetes.clusterName;
  const { node, object, machine } = await readFacts(loaded, given.node);
  if (object === null) {
    throw new CommandFailed(
      `the node ${given.node} belongs to no NodeGroup: it has no label ${GROUP_LABEL}. "kubectl drain" drains any node`,
    );
  }
  const group = nameOf(object);
  if (machine === null || machine.group !== group) {
    throw new CommandFailed(
      `the node ${given.node} has the label of ${group}, but no VPSieNode of that group became it: Headroom takes no machine away that it does not know`,
    );
  }
  const mark = markOf(node);
  if (mark !== null) {
    throw new CommandFailed(
      `the node ${given.node} is being drained already, by ${mark.drain}: "headroom node-groups explain ${given.node}" says how far it is`,
    );
  }
  await send(loaded, tools, {
    workflowId: nodeGroupId({ cluster, group }),
    update: commandUpdates.drain.name,
    input: given,
    noneRuns: async () => await whyNobodyAnswers(loaded, group),
  });
  const { mode } = (await configInForce(loaded, tools.output)).nodeGroups;
  if (readNodeGroup(object, { mode }).group?.mode === 'observe') {
    tools.output.note(`The NodeGroup ${group} only observes: the node is not drained until its mode is act.`);
  }
}

/**
 * Asks the workflow that drains the node to take the drain back.
 *
 * @throws {UnknownName} where there is no such node.
 * @throws {CommandFailed} where nothing drains it.
 */
export async function stopDrain(loaded: LoadedConfig, given: DrainCommand, tools: CommandTools): Promise<void> {
  const cluster = loaded.config.kubernetes.clusterName;
  const { node } = await readFacts(loaded, given.node);
  const mark = markOf(node);
  const { by, reason } = given;
  await send(loaded, tools, {
    // Before the first patch of a drain, the node has no mark of it.
    workflowId: mark?.drain ?? nodeDrainId({ cluster, uid: node.uid }),
    update: drainUpdates.stopDrain.name,
    input: { by, reason },
    noneRuns: () =>
      new CommandFailed(
        mark === null
          ? `Nothing drains ${given.node} in ${cluster}`
          : `The workflow ${mark.drain} does not run: the marks that it left on ${given.node} are taken back by the workflow of its group`,
      ),
  });
}

interface NodeFacts {
  readonly node: Node;
  /** The NodeGroup that the node names; null where it names none. */
  readonly object: GroupObject | null;
  /** The VPSieNode that became it. */
  readonly machine: Machine | null;
}

async function readFacts(loaded: LoadedConfig, name: string): Promise<NodeFacts> {
  return await withCluster(loaded, async ({ get, name: cluster }) => {
    try {
      const node = await nodeOf(get, name, cluster);
      const [groups, machines] = await Promise.all([listGroups(get), listMachines(get)]);
      const group = node.labels[GROUP_LABEL];
      return {
        node,
        object: group === undefined ? null : chosen(groups, group, cluster),
        machine: machines.find((machine) => machine.node === name) ?? null,
      };
    } catch (error) {
      if (error instanceof UnknownName) throw error;
      const rights = `headroom node-groups drain finds the NodeGroup of a node with your own rights, and needs to get and list nodes, and to list ${PLURAL} and ${MACHINE_PLURAL}`;
      throw listingFailure(error, cluster, rights);
    }
  });
}

async function listMachines(get: ApiGet): Promise<readonly Machine[]> {
  const path = listPath({ group: GROUP, version: VERSION, resource: MACHINE_PLURAL }, NAMESPACE);
  return (await listAll(listPlainPages<KubernetesObject>(get, { path, metadataOnly: false }))).map(readMachine);
}

const NODES = listPath({ group: '', version: 'v1', resource: 'nodes' });

async function nodeOf(get: ApiGet, name: string, cluster: string): Promise<Node> {
  try {
    const answer = await get(`${NODES}/${name}`, { accept: 'application/json' });
    return readNode(answer.kind === 'answer' && isRecord(answer.body) ? answer.body : {});
  } catch (error) {
    if (statusCode(error) !== 404) throw error;
    const nodes = await listAll(listPlainPages<KubernetesObject>(get, { path: NODES, metadataOnly: true }));
    const meant = whatThereIs(name, nodes.map(nameOf).toSorted(), 'it has none');
    throw new UnknownName(`there is no node "${name}" in ${cluster}${meant}`, { cause: error });
  }
}

interface Sent {
  readonly workflowId: string;
  readonly update: string;
  readonly input: object;
  readonly noneRuns: () => Error | Promise<Error>;
}

async function send(
  { config }: LoadedConfig,
  { output, shared }: CommandTools,
  { workflowId, update, input, noneRuns }: Sent,
): Promise<void> {
  const answer = await withClient(
    config,
    async (client) =>
      await answered(
        client,
        config.kubernetes.clusterName,
        noneRuns,
        async () =>
          await client.workflow.getHandle(workflowId).executeUpdate<string, [object]>(update, { args: [input] }),
      ),
    update,
  );
  if (shared().output === 'json') output.json({ command: update, answer });
  else output.line(withRelativeTimes(sentence(answer), Date.now()));
}
