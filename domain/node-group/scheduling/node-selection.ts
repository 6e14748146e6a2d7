/** Node selectors, required node affinity and taints, as kube-scheduler 1.35 reads them (component-helpers `nodeaffinity`). */
import { matchesRequirement } from '../../kernel/label-selector.ts';
import { ownValue } from '../../kernel/record.ts';
import type {
  Labels,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodConstraints,
  Taint,
  Toleration,
} from '../model/pod.ts';

const INTEGER = /^[+-]?\d+$/;
const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 * Whether one of the terms matches; a term without requirements matches nothing.
 *
 * @param name of the node, for `matchFields`; null where fields do not count, as for volumes.
 */
export function matchesTerms(terms: readonly NodeSelectorTerm[], labels: Labels, name: string | null): boolean {
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length === 0 && matchFields.length === 0) return false;
    return (
      matchExpressions.every((requirement) => matchesLabel(requirement, labels)) &&
      (name === null || matchFields.every((requirement) => matchesField(requirement, name)))
    );
  });
}

function matchesLabel({ key, operator, values = [] }: NodeSelectorRequirement, labels: Labels): boolean {
  return operator === 'Gt' || operator === 'Lt'
    ? compares(operator, ownValue(labels, key), values)
    : matchesRequirement({ key, operator, values }, labels);
}

/** One that the API server would refuse matches nothing. */
function compares(operator: 'Gt' | 'Lt', value: string | undefined, values: readonly string[]): boolean {
  const [bound] = values;
  if (values.length !== 1 || bound === undefined || value === undefined) return false;
  if (!INTEGER.test(value) || !INTEGER.test(bound)) return false;
  const [left, right] = [BigInt(value.replace('+', '')), BigInt(bound.replace('+', ''))];
  return operator === 'Gt' ? left > right : left < right;
}

/** Only `metadata.name` is a field of nodes, and it takes one value. */
function matchesField({ key, operator, values = [] }: NodeSelectorRequirement, name: string): boolean {
  if (values.length !== 1) return false;
  const actual = key === 'metadata.name' ? name : '';
  if (operator === 'In') return actual === values[0];
  return operator === 'NotIn' && actual !== values[0];
}

/** Whether the node has what the pod's node selector and required node affinity ask for. */
export function matchesNode(
  { nodeSelector, nodeAffinity }: Pick<PodConstraints, 'nodeSelector' | 'nodeAffinity'>,
  labels: Labels,
  name: string,
): boolean {
  for (const key of Object.keys(nodeSelector)) {
    if (!Object.hasOwn(labels, key) || labels[key] !== nodeSelector[key]) return false;
  }
  return nodeAffinity === null || matchesTerms(nodeAffinity, labels, name);
}

/** `Gt` and `Lt` are an alpha feature that is off in 1.35: such a toleration tolerates nothing. */
function tolerates({ key = '', operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''));
}

/** The first taint that keeps the pod away; null where it tolerates them all. */
export function untolerated(tolerations: readonly Toleration[], taints: readonly Taint[]): Taint | null {
  const hard = taints.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  return hard ?? null;
}

/** Whether the pod may go to nodes that are cordoned. */
export function toleratesCordon(tolerations: readonly Toleration[]): boolean {
  return untolerated(tolerations, [CORDON]) === null;
}
