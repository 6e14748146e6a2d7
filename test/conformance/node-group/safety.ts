/** The cases of whether the pods of a node may leave it, and fit what remains. */
import * as z from 'zod';
import { labelSelector } from '../../../domain/kernel/label-selector-schema.ts';
import type { LabelSelector } from '../../../domain/kernel/label-selector.ts';
import { clusterPacking } from '../../../domain/node-group/plan/cluster-packing.ts';
import { isControlPlanePod, PodSafety } from '../../../domain/node-group/scale-down/pod-safety.ts';
import { podsFitElsewhere } from '../../../domain/node-group/scheduling/fit-elsewhere.ts';
import { labelsOf } from '../../../domain/node-group/scheduling/read-pod.ts';
import { matchesNode, matchesTerms, untolerated } from '../../../domain/node-group/scheduling/node-selection.ts';
import { boundTo, nodeOf, podOf, stateOf } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { kubernetesObject } from '../kubernetes-object.ts';
import { keysOf } from '../unknown-keys.ts';
import {
  emptyTermsMatchNothing,
  noValuesMatchNothing,
  numbersAreCompared,
  wildcardHasItsEffect,
} from './deviations.ts';
import { flag, requirement, stringMap, taints, tolerations } from './shapes.ts';

/** The fields of a volume that stand as a text in the cases. */
const NAME_OF: Readonly<Record<string, string>> = {
  hostPath: 'path',
  configMap: 'name',
  secret: 'secretName',
  emptyDir: 'medium',
  persistentVolumeClaim: 'claimName',
};

/** A volume as Kubernetes has it. */
const volume = z
  .record(z.string(), z.unknown())
  .transform((written): object => ({
    name: 'volume',
    ...Object.fromEntries(
      Object.entries(written).map(([kind, value]): [string, unknown] => [
        kind,
        typeof value === 'object' || kind === 'name'
          ? value
          : { [NAME_OF[kind] ?? 'name']: value === true ? '' : value },
      ]),
    ),
  }))
  .pipe(kubernetesObject('V1Volume'));

/** A replicated pod, which nothing else keeps where it is. */
function isLocal(volumes: readonly object[]): boolean {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true }];
  const pods = volumes.length === 0 ? [] : [podOf('web', {}, { volumes }, { ownerReferences })];
  return new PodSafety(stateOf()).keptByPods(pods)?.reason === 'LocalStorage';
}

function isPartOfControlPlane(path: string): boolean {
  const [namespace = '', name = ''] = path.split('/');
  return isControlPlanePod({ namespace, name });
}

const APP = { app: 'spread' };

const antiAffinity = z.strictObject({
  readyNodes: z.number(),
  remove: z.number().default(1),
  podNamespace: z.string().default('default'),
  namespaces: z.array(z.string()).default([]),
  /** With labels alone, or as Kubernetes has it; empty: every namespace. */
  namespaceSelector: z
    .record(z.string(), z.unknown())
    .transform(
      (written): LabelSelector =>
        'matchLabels' in written || 'matchExpressions' in written ? written : { matchLabels: stringMap.parse(written) },
    )
    .pipe(keysOf(labelSelector))
    .optional(),
  /** Where the case has none, the selector selects the namespaces with matching pods. */
  namespaceLabels: z.record(z.string(), stringMap).optional(),
  topologyKey: z.string().default('kubernetes.io/hostname'),
  /** How many pods of a namespace the term selects. */
  matching: z.record(z.string(), z.number()).default({}),
  /** How many pods keep one another off their nodes. Absent: the term is that of one pod, which it does not select. */
  podsWithHostnameAntiAffinity: z.number().optional(),
});

/** Pods that the term selects are one to a node, beginning with the nodes that go; do those that go fit what is left? */
function fitsNowhere(input: z.output<typeof antiAffinity>): boolean {
  const { readyNodes, remove, podNamespace: namespace, namespaces, namespaceSelector, topologyKey } = input;
  const nodeAt = (index: number) => `node-${index % readyNodes}`;
  const nodes = Array.from({ length: readyNodes }, (_, index) =>
    nodeOf(nodeAt(index), undefined, {}, { unschedulable: index < remove }),
  );
  const term = {
    topologyKey,
    labelSelector: { matchLabels: APP },
    namespaces,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
  };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const apart = input.podsWithHostnameAntiAffinity;
  const moved = Array.from({ length: apart ?? 1 }, (_, index) => {
    const labels = apart === undefined ? {} : APP;
    return boundTo(nodeAt(index), podOf(`moved-${index}`, {}, { affinity }, { namespace, labels }));
  });
  const others = Object.entries(input.matching)
    .flatMap(([name, count]) => Array.from({ length: count }, () => name))
    .map((name, index) => boundTo(nodeAt(index), podOf(`other-${index}`, {}, {}, { namespace: name, labels: APP })));
  const selected = labelsOf(namespaceSelector?.matchLabels);
  const known = Object.keys(input.matching).map((name) => [name, selected] as const);
  const state = stateOf({
    nodes,
    pods: [...moved, ...others],
    namespaces: input.namespaceLabels ?? Object.fromEntries(known),
  });
  const packing = clusterPacking(state);
  return nodes.slice(0, remove).some(({ name }) => {
    const [evicted, goWithNode] = [moved, others].map((pods) => pods.filter(({ node }) => node === name));
    const pods = { evicted: evicted ?? [], goWithNode: goWithNode ?? [] };
    return podsFitElsewhere(packing, name, pods).kind === 'unfit';
  });
}

export const nodeGroupSafetyKinds: Readonly<Record<string, Adapter>> = {
  'safety-local-storage': adapter(
    z.strictObject({ volumes: z.array(volume).default([]) }),
    flag('blocked'),
    ({ volumes }) => ({ blocked: isLocal(volumes) }),
    sameExpectedKeys,
  ),
  'safety-system-pods': adapter(
    z.strictObject({ pods: z.array(z.string()).default([]) }),
    flag('blocked'),
    ({ pods }) => ({ blocked: pods.some(isPartOfControlPlane) }),
    sameExpectedKeys,
  ),
  'safety-taints': adapter(
    z
      .strictObject({ tolerations, remainingNodeTaints: taints })
      .transform(({ remainingNodeTaints, ...rest }) => ({ ...rest, taints: remainingNodeTaints })),
    flag('fits'),
    (input) => ({ fits: untolerated(input.tolerations, input.taints) === null }),
    sameExpectedKeys,
    [wildcardHasItsEffect],
  ),
  'safety-node-selector': adapter(
    z.strictObject({ podNodeSelector: stringMap, remainingNodeLabels: stringMap }),
    flag('safe'),
    ({ podNodeSelector, remainingNodeLabels }) => ({
      safe: matchesNode({ nodeSelector: podNodeSelector, nodeAffinity: null }, remainingNodeLabels, ''),
    }),
    sameExpectedKeys,
  ),
  'node-affinity-req': adapter(
    z
      .strictObject({
        labels: stringMap,
        key: z.string(),
        operator: z.string(),
        values: z.array(z.string()).default([]),
      })
      .transform(({ labels, ...one }) => ({ labels, ...requirement.parse(one) })),
    flag('matches'),
    ({ labels, ...one }) => ({ matches: matchesTerms([{ matchExpressions: [one] }], labels, null) }),
    sameExpectedKeys,
    [numbersAreCompared, noValuesMatchNothing],
  ),
  'node-affinity-terms': adapter(
    z.strictObject({ labels: stringMap, terms: z.array(z.array(requirement)).default([]) }),
    flag('matches'),
    ({ labels, terms }) => ({
      matches: matchesTerms(
        terms.map((matchExpressions) => ({ matchExpressions })),
        labels,
        null,
      ),
    }),
    sameExpectedKeys,
    [emptyTermsMatchNothing],
  ),
  'safety-anti-affinity': adapter(
    antiAffinity,
    flag('blocked'),
    (input) => ({ blocked: fitsNowhere(input) }),
    sameExpectedKeys,
  ),
};
