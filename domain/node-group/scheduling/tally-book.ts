/** The tallies of a packing, and which classes of pods they count. Each is asked only about pods that its selector could match. */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type { LabelCensus } from './label-census.ts';
import { NodeDomains } from './node-domains.ts';
import type { PodClass, Slot } from './packed.ts';
import { placesOfPods, placesOfScope, type Scope, SelectorIndex } from './selector-index.ts';
import { Tally } from './tally.ts';
import { countsForSpread, type ResolvedTerm } from './terms.ts';

/** Pods with an anti-affinity term that keeps some pods away. */
interface Holders {
  readonly term: ResolvedTerm;
  readonly tally: Tally;
}

interface Counting {
  readonly counts: (pods: PodClass) => boolean;
  readonly tally: Tally;
}

/** Pods with a term that selects namespaces by their labels. */
interface Asking {
  readonly by: PodClass[];
  readonly term: ResolvedTerm;
  readonly isAnti: boolean;
  /** A namespace whose labels decide it, and are not known. */
  unclear: string | null;
}

export class TallyBook {
  /** They must know of every node: nodes come and go far more often than pods do. */
  readonly domains: NodeDomains[] = [];
  readonly #census: LabelCensus;
  readonly #slots: readonly Slot[];
  readonly #classes = new SelectorIndex<PodClass>();
  readonly #byKey = new Map<string, Tally>();
  readonly #domainsByKey = new Map<string, NodeDomains>();
  readonly #counting = new SelectorIndex<Counting>();
  readonly #holders = new Map<string, Holders>();
  readonly #keepingAway = new SelectorIndex<Holders>();
  readonly #asked = new Map<string, Asking>();
  readonly #asking = new SelectorIndex<Asking>();

  /** @param slots of the packing, whose pods are counted by tallies that are made late. */
  constructor(census: LabelCensus, slots: readonly Slot[]) {
    this.#census = census;
    this.#slots = slots;
  }

  /** A class comes: what counts it, and what keeps it away. */
  add(made: PodClass): void {
    const places = placesOfPods(made.namespace, made.labels);
    this.#classes.add(places, made);
    for (const { counts, tally } of this.#counting.at(places)) if (counts(made)) made.countedBy.push(tally);
    for (const { term, tally } of this.#keepingAway.at(places)) if (term.matches(made)) made.keptAwayBy.push(tally);
    for (const asking of this.#asking.at(places)) noteUnclear(asking, made);
  }

  /** For each topology key of the terms, counts the pods that match all of them. */
  matchingAll(terms: readonly ResolvedTerm[]): readonly Tally[] {
    const matchesAll = (pods: PodClass): boolean => terms.every((term) => term.matches(pods));
    const group = JSON.stringify(terms.map(({ key }) => key));
    const scopes = terms.map((term) => this.#scopeOf(term));
    const scope = scopes.includes(null) ? null : this.#smallest(scopes);
    return [...new Set(terms.map(({ topologyKey }) => topologyKey))].map((topologyKey) =>
      this.#tally(`affinity ${topologyKey} ${group}`, topologyKey, null, scope, matchesAll),
    );
  }

  /** Counts the pods of a namespace that a spread constraint means, on the nodes that count for it. */
  spread(selector: LabelSelector | null, namespace: string, [key, domains]: readonly [string, NodeDomains]): Tally {
    return this.#tally(
      `spread ${JSON.stringify([namespace, selector])} ${key}`,
      domains.topologyKey,
      domains,
      this.#census.scopeOf(selector, [namespace]),
      (pods) => countsForSpread(selector, namespace, pods),
    );
  }

  /** @param key equal for what means the same. */
  domainsOf(key: string, topologyKey: string, accepts: (slot: Slot) => boolean): readonly [string, NodeDomains] {
    let domains = this.#domainsByKey.get(key);
    if (domains === undefined) {
      domains = new NodeDomains(topologyKey, accepts);
      this.#domainsByKey.set(key, domains);
      this.domains.push(domains);
      for (const slot of this.#slots) if (!slot.isClosed) domains.open(slot);
    }
    return [key, domains];
  }

  /** Pods with this term keep away whatever it matches, now and later; answers the tally of those that keep them away. */
  antiAffinity(term: ResolvedTerm, by: PodClass): Tally {
    const known = this.#holders.get(term.key);
    if (known !== undefined) {
      by.countedBy.push(known.tally);
      return this.#tally(`matching ${term.key}`, term.topologyKey, null, null, term.matches);
    }
    const holders = { term, tally: new Tally(term.topologyKey, null) };
    this.#holders.set(term.key, holders);
    by.countedBy.push(holders.tally);
    const scope = this.#scopeOf(term);
    if (scope !== null) {
      const places = placesOfScope(scope);
      this.#keepingAway.add(places, holders);
      for (const pods of this.#classes.at(places)) if (term.matches(pods)) pods.keptAwayBy.push(holders.tally);
    }
    return this.#tally(`matching ${term.key}`, term.topologyKey, null, scope, term.matches);
  }

  /** Where the labels of a namespace decide a term and are not known, anti-affinity makes both unclear, affinity the pods with it. */
  ask(term: ResolvedTerm, isAnti: boolean, by: PodClass): void {
    const key = `${isAnti ? 'away' : 'with'} ${term.key}`;
    const known = this.#asked.get(key);
    if (known !== undefined) {
      known.by.push(by);
      by.unclear ??= known.unclear;
      return;
    }
    const asking: Asking = { by: [by], term, isAnti, unclear: null };
    this.#asked.set(key, asking);
    const scope = this.#scopeOf(term);
    if (scope === null) return;
    this.#asking.add(placesOfScope(scope), asking);
    for (const pods of this.#classes.at(placesOfScope(scope))) noteUnclear(asking, pods);
  }

  #scopeOf({ selector, namespaces }: ResolvedTerm): Scope | null {
    return this.#census.scopeOf(selector, namespaces);
  }

  #smallest(scopes: readonly (Scope | null)[]): Scope | null {
    return scopes.reduce((best, each) =>
      best !== null && each !== null && this.#census.count(each) < this.#census.count(best) ? each : best,
    );
  }

  #tally(
    key: string,
    topologyKey: string,
    domains: NodeDomains | null,
    scope: Scope | null,
    counts: Counting['counts'],
  ): Tally {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const tally = new Tally(topologyKey, domains);
    this.#byKey.set(key, tally);
    if (scope === null) return tally;
    const places = placesOfScope(scope);
    this.#counting.add(places, { counts, tally });
    for (const pods of this.#classes.at(places)) {
      if (!counts(pods)) continue;
      pods.countedBy.push(tally);
      for (const slot of pods.placedOn) tally.add(slot, slot.pods.get(pods) ?? 0);
    }
    return tally;
  }
}

function noteUnclear(asking: Asking, pods: PodClass): void {
  const { by, term, isAnti } = asking;
  if (!term.isUnclear(pods)) return;
  if (asking.unclear === null) {
    asking.unclear = pods.namespace;
    for (const each of by) each.unclear ??= pods.namespace;
  }
  if (isAnti) pods.unclear ??= pods.namespace;
}
