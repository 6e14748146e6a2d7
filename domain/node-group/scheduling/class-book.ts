import { matchesSelector } from '../../kernel/label-selector.ts';
import type { Labels, PodAffinityTerm, PodConstraints, TopologySpreadConstraint } from '../model/pod.ts';
import type { LabelCensus } from './label-census.ts';
import type { NodeDomains } from './node-domains.ts';
import { matchesNode, untolerated } from './node-selection.ts';
import type { PodClass, Slot, SpreadRule } from './packed.ts';
import { classKey, type Placeable, selectedLabels } from './pod-class.ts';
import { TallyBook } from './tally-book.ts';
import type { SetAside } from './term-budget.ts';
import { type ResolvedTerm, resolveTerm, selectsNamespaces, spreadSelector } from './terms.ts';
import type { VolumeBook } from './volumes.ts';

interface Surroundings {
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly volumes: VolumeBook;
  readonly census: LabelCensus;
  /** Namespaces whose pods fit nowhere, and whose terms are not read. */
  readonly setAside: SetAside;
}

/** The classes of pods of a packing, and the tallies that their rules need. */
export class ClassBook {
  readonly #surroundings: Surroundings;
  readonly #tallies: TallyBook;
  readonly #classes = new Map<string, PodClass>();
  readonly #byShape = new Map<string, PodClass['byShape']>();
  readonly #resources = new Map<string, number>();

  /** @param slots of the packing. */
  constructor(surroundings: Surroundings, slots: readonly Slot[]) {
    this.#surroundings = surroundings;
    this.#tallies = new TallyBook(surroundings.census, slots);
  }

  /** They must know of every node. */
  get domains(): readonly NodeDomains[] {
    return this.#tallies.domains;
  }

  /** The packing's number of a resource. */
  resource(name: string): number {
    let number = this.#resources.get(name);
    if (number === undefined) {
      number = this.#resources.size;
      this.#resources.set(name, number);
    }
    return number;
  }

  resourceName(number: number): string {
    return [...this.#resources.keys()][number] ?? '';
  }

  classOf(pod: Placeable): PodClass {
    const why = this.#surroundings.setAside.get(pod.namespace);
    if (why === undefined) return this.#classOf(pod, null);
    return this.#classOf({ ...pod, podAffinity: [], podAntiAffinity: [], spread: [] }, { why, closes: closedBy(pod) });
  }

  #classOf(pod: Placeable, setAside: PodClass['setAside']): PodClass {
    const labels = selectedLabels(pod.labels, this.#surroundings.census.keys);
    const key = `${classKey(pod, labels)}${setAside === null ? '' : JSON.stringify(setAside.closes)}`;
    return this.#classes.get(key) ?? this.#register(pod, labels, key, setAside);
  }

  #register(pod: Placeable, labels: Labels, key: string, setAside: PodClass['setAside']): PodClass {
    const made: PodClass = {
      key,
      namespace: pod.namespace,
      labels,
      constraints: constraintsOf(pod),
      isTerminating: pod.deletesAt !== null,
      requests: Object.entries(pod.requests)
        .filter(([, amount]) => amount !== 0)
        .map(([name, amount]) => [this.resource(name), amount] as const),
      volumes: this.#surroundings.volumes.needsOf(pod.namespace, pod.claims),
      spread: [],
      affinity: null,
      antiAffinity: [],
      keptAwayBy: [],
      countedBy: [],
      placedOn: new Set(),
      setAside,
      unclear: null,
      byShape: this.#byShapeOf(pod),
    };
    this.#classes.set(key, made);
    this.#tallies.add(made);
    this.#addRules(made);
    return made;
  }

  #byShapeOf({
    namespace,
    nodeSelector,
    nodeAffinity,
    tolerations,
    claimsDevices,
    claims,
  }: Placeable): PodClass['byShape'] {
    const volumes = claims.length === 0 ? null : [namespace, claims];
    const key = JSON.stringify([Object.entries(nodeSelector), nodeAffinity, tolerations, claimsDevices, volumes]);
    const known = this.#byShape.get(key);
    if (known !== undefined) return known;
    const made: PodClass['byShape'] = [];
    this.#byShape.set(key, made);
    return made;
  }

  #addRules(made: PodClass): void {
    const { podAffinity, podAntiAffinity, spread } = made.constraints;
    if (spread.length > 0) made.spread = spread.map((constraint) => this.#spreadRule(made, constraint));
    const affinity = this.#resolved(podAffinity, made);
    if (affinity.length > 0) {
      made.affinity = {
        tallies: this.#tallies.matchingAll(affinity),
        matchesItself: affinity.every((term) => term.matches(made)),
      };
    }
    const antiAffinity = this.#resolved(podAntiAffinity, made);
    made.antiAffinity = antiAffinity.map((term) => this.#tallies.antiAffinity(term, made));
    for (const term of affinity) if (term.namespaces === null) this.#tallies.ask(term, false, made);
    for (const term of antiAffinity) if (term.namespaces === null) this.#tallies.ask(term, true, made);
  }

  /** Each once: a term that is said twice says no more. */
  #resolved(terms: readonly PodAffinityTerm[], { namespace, labels }: PodClass): readonly ResolvedTerm[] {
    const { namespaces } = this.#surroundings;
    const resolved = terms.map((term) => resolveTerm(term, namespace, labels, namespaces));
    return [...new Map(resolved.map((term) => [term.key, term])).values()];
  }

  #spreadRule(made: PodClass, constraint: TopologySpreadConstraint): SpreadRule {
    const { namespace, labels, constraints } = made;
    const { topologyKey, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint;
    const selector = spreadSelector(constraint, labels);
    const topologyKeys = constraints.spread.map((other) => other.topologyKey).toSorted();
    const affinity = nodeAffinityPolicy === 'Honor' ? [constraints.nodeSelector, constraints.nodeAffinity] : null;
    const tolerations = nodeTaintsPolicy === 'Honor' ? constraints.tolerations : null;
    const accepts = (slot: Slot): boolean =>
      topologyKeys.every((key) => Object.hasOwn(slot.labels, key)) &&
      (affinity === null || matchesNode(constraints, slot.labels, slot.name)) &&
      (tolerations === null || untolerated(tolerations, slot.taints) === null);
    const key = JSON.stringify([topologyKey, topologyKeys, affinity, tolerations]);
    const domains = this.#tallies.domainsOf(key, topologyKey, accepts);
    const tally = this.#tallies.spread(selector, namespace, domains);
    return { constraint, tally, self: matchesSelector(selector, labels) ? 1 : 0 };
  }
}

function closedBy({ namespace, podAntiAffinity }: Placeable): readonly string[] {
  const far = podAntiAffinity.filter(
    (term) => selectsNamespaces(term) || (term.namespaces ?? []).some((of) => of !== namespace),
  );
  return [...new Set(far.map(({ topologyKey }) => topologyKey))].toSorted();
}

/** Without what a whole pod has besides: classes live as long as a plan is made. */
function constraintsOf(pod: PodConstraints): PodConstraints {
  const { requests, nodeSelector, nodeAffinity, tolerations, podAffinity, podAntiAffinity, spread } = pod;
  const { hostPorts, claims, claimsDevices } = pod;
  return {
    requests,
    nodeSelector,
    nodeAffinity,
    tolerations,
    podAffinity,
    podAntiAffinity,
    spread,
    hostPorts,
    claims,
    claimsDevices,
  };
}
