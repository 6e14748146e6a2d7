/** Which labels the selectors of pods ask for, and how many pods have each. */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type { Labels, PodAffinityTerm, PodConstraints, TopologySpreadConstraint } from '../model/pod.ts';
import { selectedLabels } from './pod-class.ts';
import { placesOfPods, placesOfScope, requiredLabels, type Scope } from './selector-index.ts';

export interface CountedPod extends Pick<PodConstraints, 'podAffinity' | 'podAntiAffinity' | 'spread'> {
  readonly namespace: string;
  readonly labels: Labels;
}

/** A selector with more alternatives than these is not looked up one by one: it may name thousands of values and namespaces. */
const MOST_ALTERNATIVES = 16;

export class LabelCensus {
  /** The keys of labels that some selector asks for; other labels tell no pods apart. */
  readonly keys: ReadonlySet<string>;
  readonly #counts = new Map<string, number>();

  constructor(pods: readonly CountedPod[]) {
    this.keys = selectedKeys(pods);
    // Without selectors nothing is looked for.
    if (this.keys.size === 0) return;
    for (const { namespace, labels } of pods) {
      for (const place of placesOfPods(namespace, selectedLabels(labels, this.keys))) {
        this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
      }
    }
  }

  /** How many pods a scope takes in. */
  count(scope: Scope): number {
    return placesOfScope(scope).reduce((sum, place) => sum + (this.#counts.get(place) ?? 0), 0);
  }

  /**
   * The scope of a selector, by the label that the fewest pods have; null for a selector of nothing.
   *
   * @param namespaces of the pods that it could match; null for any.
   */
  scopeOf(selector: LabelSelector | null, namespaces: Scope['namespaces']): Scope | null {
    if (selector === null) return null;
    const of = namespaces === null || namespaces.length > MOST_ALTERNATIVES ? null : namespaces;
    let best: Scope = { namespaces: of, labels: null };
    let fewest = Number.POSITIVE_INFINITY;
    for (const labels of requiredLabels(selector)) {
      if (labels.length > MOST_ALTERNATIVES) continue;
      const scope = { namespaces: of, labels };
      const count = this.count(scope);
      if (count >= fewest) continue;
      best = scope;
      fewest = count;
    }
    return best;
  }
}

function keysOfSelector(selector: LabelSelector | null | undefined): readonly string[] {
  return [...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map(({ key }) => key)];
}

function keysOfTerm(term: PodAffinityTerm | TopologySpreadConstraint): readonly string[] {
  const mismatch = 'mismatchLabelKeys' in term ? (term.mismatchLabelKeys ?? []) : [];
  return [...keysOfSelector(term.labelSelector), ...(term.matchLabelKeys ?? []), ...mismatch];
}

function selectedKeys(pods: readonly CountedPod[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { podAffinity, podAntiAffinity, spread } of pods) {
    if (podAffinity.length + podAntiAffinity.length + spread.length === 0) continue;
    for (const term of [...podAffinity, ...podAntiAffinity, ...spread]) {
      for (const key of keysOfTerm(term)) keys.add(key);
    }
  }
  return keys;
}
