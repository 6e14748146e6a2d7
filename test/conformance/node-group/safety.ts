/** The cases of whether the pods of a node may leave it, and fit what remains. */
import * as z from 'zod';
import { clusterPacking } from '../../../domain/node-group/plan/cluster-packing.ts';
import { isControlPlanePod, PodSafety } from '../../../domain/node-group/scale-down/pod-safety.ts';
import { podsFitElsewhere } from '../../../domain/node-group/scheduling/fit-elsewhere.ts';
import { labelsOf } from '../../../domain/node-group/scheduling/read-pod.ts';
import { matchesNode, matchesTerms, untolerated } from '../../../domain/node-group/scheduling/node-selection.ts';
import { boundTo, nodeOf, podOf, stateOf } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import {
  emptyTermsMatchNothing,
  noValuesMatchNothing,
  numbersAreCompared,
  wildcardHasItsEffect,
} from './deviations.ts';
import { requirement, stringMap, taints, tolerations } from './shapes.ts';

/** The fields of a volume that stand as a text in the cases. */
const NAME_OF: Readonly<Record<string, string>> = {
  hostPath: 'path',
  configMap: 'name',
  secret: 'secretName',
  emptyDir: 'medium',
  persistentVolumeClaim: 'claimName',
};

/** A volume as Kubernetes has it. */
const volume = z.record(z.string(), z.unknown()).transform((written) => ({
  name: 'volume',
  ...Object.fromEntries(
    Object.entries(written).map(([kind, value]): [string, unknown] => [
      kind,
      typeof value === 'object' ? value : { [NAME_OF[kind] ?? 'name']: value === true ? '' : value },
    ]),
  ),
}));

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

const antiAffinity = z.object({
  readyNodes: z.number(),
  remove: z.number().default(1),
  podNamespace: z.string().default('default'),
  namespaces: z.array(z.string()).default([]),
  /** With labels alone, or as Kubernetes has it; empty: every namespace. */
  namespaceSelector: z
    .record(z.string(), z.unknown())
    .transform((written) =>
      'matchLabels' in written || 'matchExpressions' in written ? written : { matchLabels: written },
    )
    .optional(),
  /** Where the case has none, the selector selects the namespaces with matching pods. */
  namespaceLabels: z.record(z.string(), stringMap).optional(),
  topologyKey: z.string().default('kubernetes.io/hostname'),
  /** How many pods of a namespace the term selects. */
  matching: z.record(z.string(), z.number()).default({}),
});

/** Pods that the term selects are one to a node, beginning with the nodes that go; does the pod fit any that is left? */
function fitsNowhere(input: z.output<typeof antiAffinity>): boolean {
  const { readyNodes, remove, podNamespace, namespaces, namespaceSelector, topologyKey } = input;
  const nodes = Array.from({ length: readyNodes }, (_, index) =>
    nodeOf(`node-${index}`, undefined, {}, { unschedulable: index < remove }),
  );
  const term = {
    topologyKey,
    labelSelector: { matchLabels: APP },
    namespaces,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
  };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const pod = boundTo('node-0', podOf('moved', {}, { affinity }, { namespace: podNamespace }));
  const others = Object.entries(input.matching)
    .flatMap(([namespace, count]) => Array.from({ length: count }, () => namespace))
    .map((namespace, index) =>
      boundTo(`node-${index % readyNodes}`, podOf(`other-${index}`, {}, {}, { namespace, labels: APP })),
    );
  const selected = labelsOf(namespaceSelector?.['matchLabels']);
  const known = Object.keys(input.matching).map((name) => [name, selected] as const);
  const state = stateOf({
    nodes,
    pods: [pod, ...others],
    namespaces: input.namespaceLabels ?? Object.fromEntries(known),
  });
  const goWithNode = others.filter(({ node }) => node === pod.node);
  return podsFitElsewhere(clusterPacking(state), 'node-0', { evicted: [pod], goWithNode }).kind === 'unfit';
}

export const nodeGroupSafetyKinds: Readonly<Record<string, Adapter>> = {
  'safety-local-storage': adapter(
    z.object({ volumes: z.array(volume).default([]) }),
    ({ volumes }) => ({ blocked: isLocal(volumes) }),
    sameExpectedKeys,
  ),
  'safety-system-pods': adapter(
    z.object({ pods: z.array(z.string()).default([]) }),
    ({ pods }) => ({ blocked: pods.some(isPartOfControlPlane) }),
    sameExpectedKeys,
  ),
  'safety-taints': adapter(
    z
      .object({ tolerations, remainingNodeTaints: taints })
      .transform(({ remainingNodeTaints, ...rest }) => ({ ...rest, taints: remainingNodeTaints })),
    (input) => ({ fits: untolerated(input.tolerations, input.taints) === null }),
    sameExpectedKeys,
    [wildcardHasItsEffect],
  ),
  'safety-node-selector': adapter(
    z.object({ podNodeSelector: stringMap, remainingNodeLabels: stringMap }),
    ({ podNodeSelector, remainingNodeLabels }) => ({
      safe: matchesNode({ nodeSelector: podNodeSelector, nodeAffinity: null }, remainingNodeLabels, ''),
    }),
    sameExpectedKeys,
  ),
  'node-affinity-req': adapter(
    z
      .object({ labels: stringMap, key: z.string(), operator: z.string(), values: z.array(z.string()).default([]) })
      .transform(({ labels, ...one }) => ({ labels, ...requirement.parse(one) })),
    ({ labels, ...one }) => ({ matches: matchesTerms([{ matchExpressions: [one] }], labels, null) }),
    sameExpectedKeys,
    [numbersAreCompared, noValuesMatchNothing],
  ),
  'node-affinity-terms': adapter(
    z.object({ labels: stringMap, terms: z.array(z.array(requirement)).default([]) }),
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
  'safety-anti-affinity': adapter(antiAffinity, (input) => ({ blocked: fitsNowhere(input) }), sameExpectedKeys),
};
