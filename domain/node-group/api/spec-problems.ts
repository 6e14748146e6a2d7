/** What of a NodeGroup's spec, each part of which is of the right type, cannot work. */
import { isLabelKey, LABEL_KEY_FORM } from './label-rules.ts';
import { GROUP_LABEL, MANAGED_LABEL, OFFERING_LABEL, VPSIENODE_LABEL } from './names.ts';
import { type NodeGroupSpec, VPSIE_FIELDS } from './node-group-spec.ts';

/** Sentences in the form of the API server's, each with what would be right. */
export function specProblems(spec: NodeGroupSpec, name: string): readonly string[] {
  const { minNodes, maxNodes, provider, offeringIDs, labels = {} } = spec;
  const missing = provider === 'vpsie' ? VPSIE_FIELDS.filter((field) => !spec[field]) : [];
  return [
    ...(minNodes > maxNodes ? [invalid('spec.minNodes', minNodes, `at most maxNodes (${maxNodes})`)] : []),
    ...missing.map((field) => `spec.${field}: Required value: VPSie makes no machine without it`),
    ...(new Set(offeringIDs).size < offeringIDs.length
      ? [invalid('spec.offeringIDs', offeringIDs, 'each of them once')]
      : []),
    ...Object.keys(labels).flatMap((key) => keyProblems('spec.labels', key)),
    ...ownLabels(spec, name).map((key) => invalid('spec.labels', key, 'a key that Headroom does not write itself')),
    ...(['taints', 'startupTaints'] as const).flatMap((field) =>
      (spec[field] ?? []).flatMap(({ key }) => keyProblems(`spec.${field}`, key)),
    ),
    ...repeatedTaints(spec.taints),
    ...(spec.budgets ?? []).flatMap(({ schedule, duration }, at) => {
      const path = `spec.budgets[${at}]`;
      return (schedule === undefined) === (duration === undefined)
        ? []
        : [`${path}: Required value: schedule and duration, or neither of them`];
    }),
  ];
}

function keyProblems(field: string, key: string): readonly string[] {
  return [
    ...(isLabelKey(key) ? [] : [invalid(field, key, LABEL_KEY_FORM)]),
    ...(isReserved(key) ? [invalid(field, key, 'a key outside of kubernetes.io/ and k8s.io/')] : []),
  ];
}

/**
 * Labels that say something else of the group's nodes than Headroom does: a node that registers with them would be nobody's. Of several types
 * none is that of all nodes, and those to come are imagined with the group's labels.
 */
function ownLabels({ labels = {}, offeringIDs }: NodeGroupSpec, name: string): readonly string[] {
  const [offering, ...others] = offeringIDs;
  const written: Readonly<Record<string, string | null | undefined>> = {
    [MANAGED_LABEL]: 'true',
    [GROUP_LABEL]: name,
    [VPSIENODE_LABEL]: null,
    [OFFERING_LABEL]: others.length === 0 ? offering : null,
  };
  return Object.keys(written).filter((key) => Object.hasOwn(labels, key) && labels[key] !== written[key]);
}

/** Taints that are there twice. A startup taint may be repeated. */
function repeatedTaints(taints: NodeGroupSpec['taints'] = []): readonly string[] {
  const all = taints.map(({ key, effect }) => `${key}:${effect}`);
  return all.flatMap((taint, at) =>
    all.indexOf(taint) === at
      ? []
      : [`spec.taints[${at}]: Duplicate value: ${JSON.stringify(taint)}: each key once with each effect`],
  );
}

/** The VPSie autoscaler's webhook refuses these two prefixes, and no longer ones such as node.kubernetes.io/. */
function isReserved(key: string): boolean {
  return key.startsWith('kubernetes.io/') || key.startsWith('k8s.io/');
}

/** In the form of the API server's sentences. */
export function invalid(field: string, value: unknown, right: string): string {
  return `${field}: Invalid value: ${JSON.stringify(value) ?? '""'}: ${right}`;
}
