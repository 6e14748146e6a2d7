/** What people have said about a node or its group: whether, and when, it may be taken away at all. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { CREATION_REASON, GROUP } from '../api/names.ts';
import type { Machine, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Keep } from '../model/plan.ts';
import { nextAllowedMoment, readAllowedHours } from '../rules/allowed-hours.ts';
import { DO_NOT_DISRUPT, heldByAnnotation } from './do-not-disrupt.ts';

const ALLOWED_HOURS = `${GROUP}/scale-down-allowed-hours`;
const PROTECTED = `${GROUP}/protected`;
const SCALE_DOWN_DISABLED = `${GROUP}/scale-down-disabled`;

/** Annotations of a node that keep it, with their values: those of the VPSie autoscaler and of cluster-autoscaler. */
const DISABLED: readonly (readonly [key: string, value: string])[] = [
  [SCALE_DOWN_DISABLED, 'true'],
  [`${GROUP}/scale-down`, 'disabled'],
  ['cluster-autoscaler.kubernetes.io/scale-down-disabled', 'true'],
];

/** Why there must be a machine for it to be taken away; others were made by hand. */
const MANAGED_REASONS: readonly string[] = ['', 'metrics'];

type PolicyGroup = Pick<NodeGroup, 'name' | 'annotations' | 'scaleDown'>;
type PolicyNode = Pick<Node, 'annotations' | 'labels' | 'createdAt'>;

/** What keeps a node whatever the reason to take it away, unless a person asks for that very node; null where nothing does. */
export function keptByPolicy(
  { name, annotations, scaleDown }: PolicyGroup,
  node: PolicyNode,
  { creationReason }: Pick<Machine, 'creationReason'>,
  at: EpochMs,
): Keep | null {
  if (!MANAGED_REASONS.includes(creationReason)) {
    const detail = `its machine was not created for pods: ${CREATION_REASON} is ${creationReason}`;
    return { reason: 'UnmanagedNode', detail, until: null };
  }
  if (!scaleDown.enabled) {
    return { reason: 'PolicyDisabled', detail: `scaling down is disabled in ${name}`, until: null };
  }
  const disabled =
    DISABLED.find(([key, value]) => node.annotations[key] === value) ??
    DISABLED.find(([key, value]) => annotations[key] === value);
  if (disabled !== undefined) {
    return { reason: 'ScaleDownDisabled', detail: `the annotation ${disabled.join('=')} keeps it`, until: null };
  }
  if (isProtected(node)) {
    return {
      reason: 'Protected',
      detail: `${PROTECTED}=true or the label ${SCALE_DOWN_DISABLED} protects it`,
      until: null,
    };
  }
  const held = heldByAnnotation(node.annotations, node.createdAt, at);
  if (held === null) return null;
  const end = held.until === null ? '' : ` until ${formatInstant(held.until)}`;
  return { reason: 'DoNotDisrupt', detail: `its annotation ${DO_NOT_DISRUPT} keeps it${end}`, until: held.until };
}

/** Whether an annotation or a label protects the node. The VPSie autoscaler wants nodes labelled, and not annotated, as disabled. */
export function isProtected({ annotations, labels }: Pick<Node, 'annotations' | 'labels'>): boolean {
  return [annotations[PROTECTED], labels[PROTECTED], labels[SCALE_DOWN_DISABLED]].includes('true');
}

/** What keeps a node at this hour: the annotation of the node, or else of its group; null where it may go now. */
export function keptByHours(
  group: Pick<NodeGroup, 'annotations'>,
  node: Pick<Node, 'annotations'>,
  at: EpochMs,
): Keep | null {
  const text = node.annotations[ALLOWED_HOURS] ?? group.annotations[ALLOWED_HOURS];
  if (text === undefined) return null;
  const windows = readAllowedHours(text);
  if (windows === null) {
    // The VPSie autoscaler takes such a node away; who wrote the annotation meant to keep it.
    const detail = `nobody can read the hours of ${ALLOWED_HOURS}: ${text} is not such as 22:00-06:00, in UTC`;
    return { reason: 'OutsideAllowedHours', detail, until: null };
  }
  const until = nextAllowedMoment(windows, at);
  if (until === at) return null;
  const when = until === null ? 'no hour at all' : `the hours ${text} of UTC`;
  return { reason: 'OutsideAllowedHours', detail: `it may go in ${when}, by ${ALLOWED_HOURS}`, until };
}
