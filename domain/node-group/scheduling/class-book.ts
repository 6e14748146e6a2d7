import { matchesSelector } from '../../kernel/label-selector.ts';
import type { Labels, PodAffinityTerm, PodConstraints } from '../model/pod.ts';
import { matchesNode, untolerated } from './node-selection.ts';
import type { PodClass, SpreadRule } from './packed.ts';
import { classKey, type Placeable, selectedLabels } from './pod-class.ts';
import type { Slot } from './packed.ts';
import type { TallyRule } from './packed.ts';
import { Tally } from './tally.ts';
import { countsForSpread, resolveTerm, type ResolvedTerm, spreadSelector } from './terms.ts';
import type { VolumeBook } from './volumes.ts';

/** Pods with an anti-affinity term that keeps some pods away. */
interface Holders {
  readonly term: ResolvedTerm;
  readonly tally: Tally;
}

interface Asking {
  readonly by: PodClass;
  readonly term: ResolvedTerm;
  readonly isAnti: boolean;
}

interface Surroundings {
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly volumes: VolumeBook;
  /** The labels that tell pods apart, of all selectors. */
  readonly keys: ReadonlySet<string>;
  /** Called for each tally that is made, to count what is placed already. */
  readonly countPlaced: (tally: Tally) => void;
}

/** The classes of pods of a packing, and the tallies that their rules need. */
export class ClassBook {
  readonly tallies: Tally[] = [];
  /** Those that must know of every node: nodes come and go far more often than pods do. */
  readonly spreading: Tally[] = [];
  readonly #surroundings: Surroundings;
  readonly #classes = new Map<string, PodClass>();
  readonly #byKey = new Map<string, Tally>();
  readonly #holders = new Map<string, Holders>();
  readonly #resources = new Map<string, number>();
  /** The terms that select namespaces, with whose they are. */
  readonly #terms: Asking[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
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
    const labels = selectedLabels(pod.labels, this.#surroundings.keys);
    const key = classKey(pod, labels);
    return this.#classes.get(key) ?? this.#register(pod, labels, key);
  }

  #register(pod: Placeable, labels: Labels, key: string): PodClass {
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
      unclear: null,
      byShape: [],
    };
    this.#classes.set(key, made);
    for (const tally of this.tallies) if (tally.rule.counts(made)) made.countedBy.push(tally);
    for (const { term, tally } of this.#holders.values()) if (term.matches(made)) made.keptAwayBy.push(tally);
    for (const asking of this.#terms) noteUnclear(asking, made);
    this.#addRules(made);
    return made;
  }

  #addRules(made: PodClass): void {
    const { podAffinity, podAntiAffinity, spread } = made.constraints;
    if (spread.length > 0) made.spread = spread.map((_, index) => this.#spreadRule(made, index));
    const resolve = (term: (typeof podAffinity)[number]): ResolvedTerm =>
      resolveTerm(term, made.namespace, made.labels, this.#surroundings.namespaces);
    if (podAffinity.length > 0) {
      const terms = podAffinity.map(resolve);
      const matchesAll = (pods: PodClass): boolean => terms.every((term) => term.matches(pods));
      const group = JSON.stringify(terms.map(({ key }) => key));
      const topologyKeys = [...new Set(terms.map(({ topologyKey }) => topologyKey))];
      made.affinity = {
        tallies: topologyKeys.map((topologyKey) =>
          this.#tally(`affinity ${topologyKey} ${group}`, {
            topologyKey,
            counts: matchesAll,
            accepts: null,
            spreads: false,
          }),
        ),
        matchesItself: matchesAll(made),
      };
    }
    made.antiAffinity = podAntiAffinity.map(resolve).map((term) =>
      this.#tally(`matching ${term.key}`, {
        topologyKey: term.topologyKey,
        counts: term.matches,
        accepts: null,
        spreads: false,
      }),
    );
    for (const term of podAntiAffinity.map(resolve)) this.#hold(term);
    for (const [terms, isAnti] of [
      [podAffinity, false],
      [podAntiAffinity, true],
    ] as const) {
      for (const term of terms.filter(selectsNamespaces).map(resolve)) {
        const asking = { by: made, term, isAnti };
        this.#terms.push(asking);
        for (const pods of this.#classes.values()) noteUnclear(asking, pods);
      }
    }
  }

  /** Pods with this term keep away whatever it matches, now and later. */
  #hold(term: ResolvedTerm): void {
    if (this.#holders.has(term.key)) return;
    const has = ({ constraints, namespace, labels }: PodClass): boolean =>
      constraints.podAntiAffinity.some(
        (other) => resolveTerm(other, namespace, labels, this.#surroundings.namespaces).key === term.key,
      );
    const tally = this.#tally(`holding ${term.key}`, {
      topologyKey: term.topologyKey,
      counts: has,
      accepts: null,
      spreads: false,
    });
    this.#holders.set(term.key, { term, tally });
    for (const pods of this.#classes.values()) if (term.matches(pods)) pods.keptAwayBy.push(tally);
  }

  #spreadRule(made: PodClass, index: number): SpreadRule {
    const { namespace, labels, constraints } = made;
    const constraint = constraints.spread[index] ?? { maxSkew: 1, topologyKey: '' };
    const { topologyKey, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint;
    const selector = spreadSelector(constraint, labels);
    const topologyKeys = constraints.spread.map((other) => other.topologyKey).toSorted();
    const affinity = nodeAffinityPolicy === 'Honor' ? [constraints.nodeSelector, constraints.nodeAffinity] : null;
    const tolerations = nodeTaintsPolicy === 'Honor' ? constraints.tolerations : null;
    const accepts = (slot: Slot): boolean =>
      topologyKeys.every((key) => Object.hasOwn(slot.labels, key)) &&
      (affinity === null || matchesNode(constraints, slot.labels, slot.name)) &&
      (tolerations === null || untolerated(tolerations, slot.taints) === null);
    const tally = this.#tally(
      `spread ${JSON.stringify([namespace, selector, topologyKey, topologyKeys, affinity, tolerations])}`,
      { topologyKey, counts: (pods) => countsForSpread(selector, namespace, pods), accepts, spreads: true },
    );
    return { constraint, tally, self: matchesSelector(selector, labels) ? 1 : 0 };
  }

  #tally(key: string, rule: TallyRule): Tally {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const tally = new Tally(rule);
    this.#byKey.set(key, tally);
    this.tallies.push(tally);
    if (rule.spreads) this.spreading.push(tally);
    for (const pods of this.#classes.values()) if (rule.counts(pods)) pods.countedBy.push(tally);
    this.#surroundings.countPlaced(tally);
    return tally;
  }
}

function selectsNamespaces({ namespaceSelector }: PodAffinityTerm): boolean {
  return namespaceSelector !== undefined && namespaceSelector !== null;
}

/** Anti-affinity keeps both apart, so both are unclear; affinity asks for the other pods only. */
function noteUnclear({ by, term, isAnti }: Asking, pods: PodClass): void {
  if (!term.isUnclear(pods)) return;
  by.unclear ??= pods.namespace;
  if (isAnti) pods.unclear ??= pods.namespace;
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
