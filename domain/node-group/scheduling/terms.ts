/** The selectors of (anti-)affinity and spread as kube-scheduler resolves them for one pod. */
import { ownValue } from '../../kernel/record.ts';
import { isEmptySelector, type LabelSelector, matchesSelector } from '../../kernel/label-selector.ts';
import type { Labels, PodAffinityTerm, TopologySpreadConstraint } from '../model/pod.ts';
import type { PodClass } from './packed.ts';

type Namespaces = Readonly<Record<string, Labels>>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

/** A term of affinity, with the pod's own values in it. */
export interface ResolvedTerm {
  readonly topologyKey: string;
  /** Of the pods that it matches; null for a selector of nothing. */
  readonly selector: LabelSelector | null;
  /** Of the pods that it could match; null where it selects namespaces by their labels. */
  readonly namespaces: readonly string[] | null;
  readonly matches: (pods: Pick<PodClass, 'namespace' | 'labels'>) => boolean;
  /** Whether the labels of the pods' namespace decide it, and are not known; then `matches` says no. */
  readonly isUnclear: (pods: Pick<PodClass, 'namespace' | 'labels'>) => boolean;
  /** Equal for terms that mean the same. */
  readonly key: string;
}

/**
 * The API server has put the values of `matchLabelKeys` and `mismatchLabelKeys` into the selectors of pods, but not into
 * those of templates.
 */
export function resolveTerm(term: PodAffinityTerm, namespace: string, labels: Labels, all: Namespaces): ResolvedTerm {
  const { topologyKey, namespaces = [], namespaceSelector } = term;
  const selector = withLabelKeys(term, labels);
  const ofItsOwn = namespaces.length === 0 && !selectsNamespaces(term);
  const named = ofItsOwn ? [namespace] : namespaces;
  // An empty selector takes every namespace, whatever its labels are.
  const asksLabels = namespaceSelector !== null && !isEmptySelector(namespaceSelector);
  const isIn = (name: string): boolean | null => {
    if (named.includes(name)) return true;
    const known = ownValue(all, name);
    return known === undefined && asksLabels ? null : matchesSelector(namespaceSelector, known ?? {});
  };
  return {
    topologyKey,
    selector,
    namespaces: selectsNamespaces(term) ? null : named,
    key: JSON.stringify([topologyKey, selector, named, namespaceSelector ?? null]),
    matches: (pods) => isIn(pods.namespace) === true && matchesSelector(selector, pods.labels),
    isUnclear: (pods) => isIn(pods.namespace) === null && matchesSelector(selector, pods.labels),
  };
}

export function selectsNamespaces({ namespaceSelector }: PodAffinityTerm): boolean {
  return namespaceSelector !== undefined && namespaceSelector !== null;
}

function withLabelKeys(term: PodAffinityTerm, labels: Labels): LabelSelector | null {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined || labelSelector === null) return null;
  const has = (key: string): boolean => (labelSelector.matchExpressions ?? []).some((asked) => asked.key === key);
  const more = [
    ...matchLabelKeys.filter((key) => !has(key)).flatMap((key) => requirement(key, 'In', labels)),
    ...mismatchLabelKeys.filter((key) => !has(key)).flatMap((key) => requirement(key, 'NotIn', labels)),
  ];
  return more.length === 0 ? labelSelector : withMore(labelSelector, more);
}

function requirement(key: string, operator: 'In' | 'NotIn', labels: Labels): readonly Requirement[] {
  const value = ownValue(labels, key);
  return value === undefined ? [] : [{ key, operator, values: [value] }];
}

function withMore(selector: LabelSelector, more: readonly Requirement[]): LabelSelector {
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...more] };
}

/** Which pods a spread constraint counts, besides that they are of its namespace; null for a selector of nothing. */
export function spreadSelector(constraint: TopologySpreadConstraint, labels: Labels): LabelSelector | null {
  const { labelSelector, matchLabelKeys = [] } = constraint;
  if (labelSelector === undefined || labelSelector === null) return null;
  const more = matchLabelKeys.flatMap((key) => requirement(key, 'In', labels));
  return more.length === 0 ? labelSelector : withMore(labelSelector, more);
}

/** Whether other pods count for a spread. With an empty selector none does, though it matches the pod itself; deleted pods never count. */
export function countsForSpread(selector: LabelSelector | null, namespace: string, pods: PodClass): boolean {
  if (isEmptySelector(selector) || pods.isTerminating || pods.namespace !== namespace) return false;
  return matchesSelector(selector, pods.labels);
}
