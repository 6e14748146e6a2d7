/** `headroom node-groups list`: every NodeGroup of the cluster, with what its status says. */
import { ownValue } from '../../../domain/kernel/record.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import type { Mode } from '../../../domain/node-group/model/node-group.ts';
import { listOf } from '../../../domain/kernel/pod-requests.ts';
import { fieldsOf, textOf } from '../../../domain/node-group/scheduling/read-pod.ts';
import { columns } from '../columns.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import { type GroupObject, nameOf, readGroups } from './groups.ts';
import { configInForce } from './in-force.ts';

/** The documented form of `headroom node-groups list --output json`. */
interface NodeGroupRow {
  readonly group: string;
  readonly provider: string | null;
  /** Null where the spec is invalid: nothing is done for the group then. */
  readonly mode: Mode | null;
  readonly minNodes: number | null;
  readonly maxNodes: number | null;
  /** As the status has it; null before the first pass. */
  readonly currentNodes: number | null;
  readonly readyNodes: number | null;
  readonly desiredNodes: number | null;
  readonly instanceTypes: readonly string[];
  readonly isDeleting: boolean;
  /** The conditions that say that something is wrong. */
  readonly troubles: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

/** The status of a condition that says that something is wrong. The VPSie autoscaler writes no messages. */
const WRONG: Readonly<Record<string, string>> = {
  Ready: 'False',
  Error: 'True',
  LeaseFull: 'True',
  AtMaxCapacity: 'True',
};

/** @throws {CommandFailed} where the cluster cannot be read. */
export async function listNodeGroups(loaded: LoadedConfig, { output, shared }: CommandTools): Promise<void> {
  const [objects, { nodeGroups }] = await Promise.all([readGroups(loaded), configInForce(loaded, output)]);
  const rows = objects.map((object) => rowOf(object, nodeGroups.mode));
  if (shared().output === 'json') output.json(rows);
  else output.text(listText(loaded.config.kubernetes.clusterName, rows, output.terminal));
}

/** @param mode what holds for groups that say nothing of their own. */
export function rowOf(object: GroupObject, mode: Mode): NodeGroupRow {
  const { group, problems, isDeleting } = readNodeGroup(object, { mode });
  const [spec, status] = [fieldsOf(object.spec), fieldsOf(object.status)];
  const said = listOf(status['conditions']).flatMap((condition) => {
    const type = textOf(condition['type']);
    const wrong = ownValue(WRONG, type);
    if (wrong === undefined || condition['status'] !== wrong) return [];
    const message = textOf(condition['message']) || `${type} is ${wrong}`;
    return [{ type, reason: textOf(condition['reason']), message }];
  });
  // Nobody may have written yet what is wrong with the spec.
  const invalid = problems.map((message) => ({ type: 'Error', reason: 'Invalid', message }));
  return {
    group: nameOf(object),
    provider: group?.provider ?? (typeof spec['provider'] === 'string' ? spec['provider'] : null),
    mode: group?.mode ?? null,
    minNodes: numberOf(spec['minNodes']),
    maxNodes: numberOf(spec['maxNodes']),
    currentNodes: numberOf(status['currentNodes']),
    readyNodes: numberOf(status['readyNodes']),
    desiredNodes: numberOf(status['desiredNodes']),
    instanceTypes: group?.offeringIds ?? [],
    isDeleting,
    troubles: group === null ? invalid : said,
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function listText(cluster: string, rows: readonly NodeGroupRow[], terminal: Terminal): string {
  if (rows.length === 0) return `${cluster} has no NodeGroup.\n`;
  const [heading = '', ...lines] = columns(
    [
      [
        { text: 'NODEGROUP' },
        { text: 'NODES', right: true },
        { text: 'READY', right: true },
        { text: 'DESIRED', right: true },
        { text: 'MIN-MAX', right: true },
        { text: 'PROVIDER' },
        { text: 'MODE' },
        { text: 'INSTANCE TYPES' },
      ],
      ...rows.map((row) => [
        { text: row.group },
        { text: countText(row.currentNodes), right: true },
        { text: countText(row.readyNodes), right: true },
        { text: countText(row.desiredNodes), right: true },
        { text: `${countText(row.minNodes)}-${countText(row.maxNodes)}`, right: true },
        { text: row.provider ?? '-' },
        { text: row.mode ?? 'invalid' },
        { text: row.instanceTypes.join(', ') || '-' },
      ]),
    ],
    0,
  );
  const body = rows.flatMap(({ troubles, isDeleting, mode }, at) => {
    const notes = new Set([
      ...(isDeleting ? ['It is being deleted.'] : []),
      ...troubles.map(({ message }) => sentence(message)),
    ]);
    const isFailing = mode === null || troubles.some(({ type }) => type !== 'AtMaxCapacity');
    return [
      coloured(lines[at] ?? '', isFailing ? 'red' : undefined, terminal),
      ...[...notes].flatMap((note) => wrapped(note, 2, terminal)),
    ];
  });
  const legend = 'headroom node-groups status GROUP says more.';
  return `${[coloured(heading, 'bold', terminal), ...body, '', coloured(legend, 'dim', terminal)].join('\n')}\n`;
}

function countText(count: number | null): string {
  return count === null ? '-' : String(count);
}
