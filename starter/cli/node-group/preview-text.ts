/** A plan for the cluster, or for one NodeGroup of it, as it is printed. */
import { listText, sentence } from '../../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import { newNodesText } from '../../../domain/node-group/decide/sentences.ts';
import type { Mode } from '../../../domain/node-group/model/node-group.ts';
import type { KeptNode, NewNodes, Removal, UnhelpedPod } from '../../../domain/node-group/model/plan.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import { isPlaced } from './answers.ts';
import type { LocalPlan } from './local-plan.ts';
import { isOnlyWaiting, ONE_MOMENT } from './moment.ts';

/** The documented form of `headroom node-groups preview --output json`. */
interface Preview {
  readonly cluster: string;
  /** RFC 3339; `until` of a node that stays is in milliseconds since 1970. */
  readonly at: string;
  /** Why nothing is written for any group, as a sentence; null where something is. */
  readonly heldBy: string | null;
  readonly groups: readonly {
    readonly name: string;
    /** Null for one whose spec is invalid. */
    readonly mode: Mode | null;
    readonly problems: readonly string[];
  }[];
  readonly newNodes: readonly NewNodes[];
  /** In the order in which they go. */
  readonly removals: readonly Removal[];
  readonly kept: readonly KeptNode[];
  /** Pods of the whole cluster that get no new node. */
  readonly unhelped: readonly UnhelpedPod[];
  /** Pods of the whole cluster that fit a node which is there or on its way. */
  readonly placed: readonly UnhelpedPod[];
}

/** As many entries of a list as a person reads at once. */
const SHOWN = 20;
/** Pods that are named beside new nodes. */
const NAMED = 5;

/** @param only null for all groups. */
export function previewOf({ cluster, plan, groups, heldBy }: LocalPlan, only: string | null): Preview {
  const isMeant = ({ group }: { readonly group: string }): boolean => only === null || group === only;
  return {
    cluster,
    at: new Date(plan.at).toISOString(),
    heldBy,
    groups: groups
      .filter(({ name }) => isMeant({ group: name }))
      .map(({ name, group, problems }) => ({ name, mode: group?.mode ?? null, problems })),
    newNodes: plan.newNodes.filter(isMeant),
    removals: plan.removals.filter(isMeant),
    kept: plan.kept.filter(isMeant),
    unhelped: plan.unhelped.filter((pod) => !isPlaced(pod)),
    placed: plan.unhelped.filter(isPlaced),
  };
}

export function previewText(preview: Preview, terminal: Terminal): string {
  const { cluster, groups, heldBy, newNodes, removals, kept, unhelped, placed } = preview;
  if (groups.length === 0) return `${cluster} has no NodeGroup.\n`;
  const observing = groups.filter(({ mode }) => mode === 'observe').map(({ name }) => name);
  const waiting = kept.filter(isOnlyWaiting);
  const staying = kept.filter((node) => !isOnlyWaiting(node));
  const lines = [
    ...section('New nodes', newNodes.map(newNodesLine), 'none'),
    ...section('Nodes that may go, in this order', removals.map(removalLine), 'none'),
    ...section('Nodes that nothing needs, and that wait', waiting.map(keptLine)),
    ...section('Nodes that stay', staying.map(keptLine)),
    ...section('Pods that get no new node', unhelped.map(podLine)),
    ...section('Pods that fit a node which is there or on its way', placed.map(podLine)),
    ...section(
      'Notes',
      [
        ...(heldBy === null ? [] : [`Nothing is written for any NodeGroup: ${heldBy}`]),
        ...groups.flatMap(({ name, problems }) =>
          problems.map((problem) => `the NodeGroup ${name} is invalid: ${problem}`),
        ),
        ...observing.map((name) => `the NodeGroup ${name} only observes: nothing is done until its mode is act`),
        ONE_MOMENT,
      ].map(sentence),
    ),
  ];
  const text = lines.flatMap(({ heading, text: line }) =>
    heading ? [coloured(line, 'bold', terminal)] : wrapped(line, 2, terminal),
  );
  return `${withRelativeTimes(text.join('\n'), Date.parse(preview.at))}\n`;

  function newNodesLine({ group, ...nodes }: NewNodes): string {
    const pods = nodes.pods.slice(0, NAMED);
    const named = pods.length === 0 ? '' : ` (${listText([...pods, ...moreOf(nodes.podCount - pods.length)])})`;
    return `${group}: ${newNodesText([{ group, ...nodes }])}${named}`;
  }
}

function moreOf(rest: number): readonly string[] {
  return rest === 0 ? [] : [`${rest} more`];
}

function removalLine({ group, node, reason, detail, replacement }: Removal): string {
  const first = replacement === null ? '' : `, after a node of ${replacement.instanceType} is ready in its place`;
  return `${node} of ${group} (${reason}): ${detail}${first}`;
}

function keptLine({ group, node, reason, detail }: KeptNode): string {
  return `${node} of ${group} (${reason}): ${detail}`;
}

function podLine({ namespace, name, reason, detail }: UnhelpedPod): string {
  return `${namespace}/${name} (${reason}): ${detail}`;
}

interface Line {
  readonly heading: boolean;
  readonly text: string;
}

/** @param none what is said where there is no entry; absent, the section is left out. */
function section(heading: string, entries: readonly string[], none?: string): readonly Line[] {
  if (entries.length === 0 && none === undefined) return [];
  const shown = entries.slice(0, SHOWN);
  const more = entries.length > SHOWN ? [`and ${entries.length - SHOWN} more: --output json has all of them`] : [];
  const lines = entries.length === 0 ? [none ?? ''] : [...shown, ...more];
  return [{ heading: true, text: heading }, ...lines.map((text) => ({ heading: false, text }))];
}
