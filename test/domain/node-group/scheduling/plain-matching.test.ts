/** What the packing finds by its indexes is what asking every pod about every term finds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSelector, matchesSelector } from '../../../../domain/kernel/label-selector.ts';
import type {
  Labels,
  Pod,
  PodAffinityTerm,
  TopologySpreadConstraint,
} from '../../../../domain/node-group/model/pod.ts';
import { LabelCensus } from '../../../../domain/node-group/scheduling/label-census.ts';
import type { Misfit } from '../../../../domain/node-group/scheduling/misfit.ts';
import { Packing } from '../../../../domain/node-group/scheduling/packing.ts';
import { existingSlot } from '../../../../domain/node-group/scheduling/fits.ts';
import { VolumeBook } from '../../../../domain/node-group/scheduling/volumes.ts';
import { nodeOf, podOf, stateOf } from '../builders.ts';

const NAMESPACES: Readonly<Record<string, Labels>> = { default: { team: 'a' }, other: { team: 'b' }, third: {} };
const NODES = ['a', 'b', 'c', 'd'].map((name, index) =>
  nodeOf(name, undefined, index === 3 ? {} : { zone: `z${index % 2}` }),
);

const key = fc.constantFrom('app', 'tier', 'constructor');
const value = fc.constantFrom('x', 'y', 'z');
const labels = fc.dictionary(key, value, { maxKeys: 3 });
const requirement = fc
  .tuple(
    key,
    fc.constantFrom('In' as const, 'NotIn' as const, 'Exists' as const, 'DoesNotExist' as const),
    value,
    value,
  )
  .map(([of, operator, one, two]) =>
    operator === 'In' || operator === 'NotIn' ? { key: of, operator, values: [one, two] } : { key: of, operator },
  );
const selector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
  matchExpressions: fc.array(requirement, { maxLength: 2 }),
});
const topologyKey = fc.constantFrom('kubernetes.io/hostname', 'zone');
const namespace = fc.constantFrom(...Object.keys(NAMESPACES));
const term: fc.Arbitrary<PodAffinityTerm> = fc
  .tuple(
    topologyKey,
    fc.option(selector, { freq: 9 }),
    fc.array(namespace, { maxLength: 2 }),
    fc.option(fc.constantFrom<LabelSelector>({}, { matchLabels: { team: 'a' } }), { freq: 1 }),
  )
  .map(([of, labelSelector, namespaces, namespaceSelector]) => ({
    topologyKey: of,
    labelSelector,
    namespaces,
    namespaceSelector,
  }));
const spread: fc.Arbitrary<TopologySpreadConstraint> = fc.record({
  topologyKey,
  maxSkew: fc.integer({ min: 1, max: 2 }),
  labelSelector: selector,
});
const few = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant<T[]>([]) }, fc.array(of, { minLength: 1, maxLength: 2 }));
const pods = fc.array(
  fc.record({ namespace, labels, podAffinity: few(term), podAntiAffinity: few(term), spread: few(spread) }),
  { minLength: 2, maxLength: 8 },
);
/** Places, takes away or only asks; a class is made when it is first named, so that tallies are made early and late. */
const steps = fc.array(fc.record({ pod: fc.nat(), node: fc.nat({ max: NODES.length - 1 }), gone: fc.boolean() }), {
  maxLength: 12,
});

interface Placed {
  readonly pod: Pod;
  readonly node: string;
}

function matches(of: PodAffinityTerm, by: Pod, pod: Pod): boolean {
  const { namespaces = [], namespaceSelector, labelSelector } = of;
  const named = namespaces.length === 0 && (namespaceSelector ?? null) === null ? [by.namespace] : namespaces;
  const isIn = named.includes(pod.namespace) || matchesSelector(namespaceSelector, NAMESPACES[pod.namespace] ?? {});
  return isIn && matchesSelector(labelSelector, pod.labels);
}

const domainOf = (node: string, of: string): string | undefined => NODES.find(({ name }) => name === node)?.labels[of];

/** Whether one of the pods is in the node's domain. */
function isNear(found: readonly Placed[], node: string, of: string): boolean {
  const domain = domainOf(node, of);
  return domain !== undefined && found.some((each) => domainOf(each.node, of) === domain);
}

function skewOf(of: TopologySpreadConstraint, pod: Pod, node: string, placed: readonly Placed[]): number {
  const keys = pod.spread.map((each) => each.topologyKey);
  const nodes = NODES.filter(({ labels: own }) => keys.every((each) => Object.hasOwn(own, each)));
  const isEmpty =
    Object.keys(of.labelSelector?.matchLabels ?? {}).length + (of.labelSelector?.matchExpressions ?? []).length === 0;
  const counted = placed.filter(
    (each) =>
      !isEmpty &&
      each.pod.namespace === pod.namespace &&
      matchesSelector(of.labelSelector, each.pod.labels) &&
      nodes.some(({ name }) => name === each.node),
  );
  const inDomain = (domain: string | undefined): number =>
    counted.filter((each) => domainOf(each.node, of.topologyKey) === domain).length;
  const domains = nodes.map(({ name }) => inDomain(domainOf(name, of.topologyKey)));
  const least = domains.length === 0 ? 0 : Math.min(...domains);
  return inDomain(domainOf(node, of.topologyKey)) + Number(matchesSelector(of.labelSelector, pod.labels)) - least;
}

/** kube-scheduler's rules between pods, each asked of every pod. */
function plainMisfit(pod: Pod, node: string, placed: readonly Placed[]): Misfit | null {
  for (const each of pod.spread) {
    if (domainOf(node, each.topologyKey) === undefined) return 'NodeSelector';
    if (skewOf(each, pod, node, placed) > each.maxSkew) return 'Spread';
  }
  const { podAffinity, podAntiAffinity } = pod;
  if (podAffinity.length > 0) {
    if (podAffinity.some((each) => domainOf(node, each.topologyKey) === undefined)) return 'PodAffinity';
    const wanted = placed.filter((each) => podAffinity.every((of) => matches(of, pod, each.pod)));
    const isFirst =
      podAffinity.every((of) => matches(of, pod, pod)) &&
      podAffinity.every((of) => wanted.every((each) => domainOf(each.node, of.topologyKey) === undefined));
    if (!isFirst && podAffinity.some((of) => !isNear(wanted, node, of.topologyKey))) return 'PodAffinity';
  }
  const isKept = (of: PodAffinityTerm): boolean =>
    isNear(
      placed.filter((each) => matches(of, pod, each.pod)),
      node,
      of.topologyKey,
    );
  if (podAntiAffinity.some(isKept)) return 'PodAntiAffinity';
  const isKeptBy = (each: Placed): boolean =>
    each.pod.podAntiAffinity.some((of) => matches(of, each.pod, pod) && isNear([each], node, of.topologyKey));
  return placed.some(isKeptBy) ? 'ExistingAntiAffinity' : null;
}

describe('the indexes of terms', () => {
  it('find what asking each pod about each term finds, however late a pod comes', () => {
    fc.assert(
      fc.property(pods, steps, (kinds, moves) => {
        const all = kinds.map((kind, index) => ({ ...podOf(`p${index}`, {}), ...kind }));
        const state = stateOf({ namespaces: NAMESPACES });
        const packing = new Packing({
          namespaces: NAMESPACES,
          volumes: new VolumeBook(state),
          census: new LabelCensus(all),
          setAside: new Map(),
        });
        const slots = NODES.map((node) => packing.open(existingSlot(node, null)));
        let placed: readonly Placed[] = [];
        for (const { pod: number, node, gone } of moves) {
          const pod = all[number % all.length];
          const slot = slots[node];
          if (pod === undefined || slot === undefined) continue;
          const misfits = slots.map((each) => packing.misfit(packing.classOf(pod), each));
          expect(misfits).toEqual(slots.map(({ name }) => plainMisfit(pod, name, placed)));
          const there = placed.find((each) => each.pod === pod && each.node === slot.name);
          if (gone && there === undefined) continue;
          packing.place(packing.classOf(pod), slot, gone ? -1 : 1);
          placed = gone ? placed.filter((each) => each !== there) : [...placed, { pod, node: slot.name }];
        }
      }),
      { numRuns: 400 },
    );
  });
});
