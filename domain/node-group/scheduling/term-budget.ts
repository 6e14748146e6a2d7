/**
 * How much the rules between pods of one namespace may cost a plan, so that no tenant's terms stop the plan of everybody. What they cost
 * is counted from the pods alone: it depends on no clock, and on no order.
 */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type { Labels, PodAffinityTerm } from '../model/pod.ts';
import type { CountedPod, LabelCensus } from './label-census.ts';
import type { Scope } from './selector-index.ts';
import { resolveTerm, spreadSelector } from './terms.ts';

/** Terms of affinity, anti-affinity and spread of all pods of a namespace: 10,000 pods with five each. */
export const MOST_TERMS = 50_000;
/** Each different term with each pod that it could mean by its namespace and one label: 200 Deployments of which each means 2,000 pods. */
export const MOST_MEETINGS = 400_000;
/** Labels, expressions, values and namespaces that a term may name until it counts twice. */
const LISTED = 16;
/** What it costs to read a term that no pod before had, in meetings. */
const READ = 5;

/** Namespaces beyond their budget, by name: a sentence for people. */
export type SetAside = ReadonlyMap<string, string>;

interface Cost {
  terms: number;
  meetings: number;
  readonly known: Set<string>;
}

/**
 * @param pods all that a plan is about, those that run as well as those that wait.
 * @param census of the same pods.
 */
export function namespacesToSetAside(
  pods: readonly CountedPod[],
  census: LabelCensus,
  namespaces: Readonly<Record<string, Labels>>,
): SetAside {
  const costs = new Map<string, Cost>();
  for (const pod of pods) {
    const { namespace, podAffinity, podAntiAffinity, spread } = pod;
    const terms = podAffinity.length + podAntiAffinity.length + spread.length;
    if (terms === 0) continue;
    const cost = costs.get(namespace) ?? { terms: 0, meetings: 0, known: new Set() };
    costs.set(namespace, cost);
    cost.terms += terms;
    // What is beyond the budget already is counted no further, but for the sentence.
    if (cost.terms <= MOST_TERMS && cost.meetings <= MOST_MEETINGS) countMeetings(cost, pod, census, namespaces);
  }
  const beyond = [...costs].filter(([, { terms, meetings }]) => terms > MOST_TERMS || meetings > MOST_MEETINGS);
  return new Map(beyond.map(([namespace, cost]) => [namespace, sentenceOf(namespace, cost)]));
}

function countMeetings(
  cost: Cost,
  { namespace, labels, podAffinity, podAntiAffinity, spread }: CountedPod,
  census: LabelCensus,
  namespaces: Readonly<Record<string, Labels>>,
): void {
  const note = (key: string, selector: LabelSelector | null, of: Scope['namespaces'], reading: number): void => {
    if (cost.known.has(key)) return;
    cost.known.add(key);
    cost.meetings += reading;
    const scope = census.scopeOf(selector, of);
    if (scope !== null) cost.meetings += census.count(scope) * sizeOf(selector, of);
  };
  for (const term of [...podAffinity, ...podAntiAffinity]) {
    const { key, selector, namespaces: of } = resolveTerm(term, namespace, labels, namespaces);
    note(key, selector, of, READ * sizeOf(selector, of) * sizeOfSearch(term, namespaces));
  }
  for (const constraint of spread) {
    const selector = spreadSelector(constraint, labels);
    const key = `spread ${JSON.stringify([constraint.topologyKey, selector])}`;
    note(key, selector, [namespace], READ * sizeOf(selector, null));
  }
}

/** What it costs to ask whether one pod is meant: a term may name thousands of labels, values and namespaces. */
function sizeOf(selector: LabelSelector | null, namespaces: Scope['namespaces']): number {
  return Math.max(1, Math.ceil((namedIn(selector) + (namespaces?.length ?? 0)) / LISTED));
}

/** What it costs to find the namespaces of a term, each of which is asked about. */
function sizeOfSearch({ namespaceSelector }: PodAffinityTerm, namespaces: Readonly<Record<string, Labels>>): number {
  const named = namedIn(namespaceSelector ?? null);
  return named === 0 ? 1 : Math.ceil(named / LISTED) * Math.ceil(Object.keys(namespaces).length / LISTED);
}

function namedIn(selector: LabelSelector | null): number {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const expressions = matchExpressions.reduce((sum, { values = [] }) => sum + 1 + values.length, 0);
  return Object.keys(matchLabels).length + expressions;
}

/** The same whatever the order of the pods: meetings are not counted to their end. */
function sentenceOf(namespace: string, { terms }: Cost): string {
  const kinds = 'affinity, anti-affinity and spread';
  const end = 'so none of them is planned for; fewer terms, or several namespaces, help';
  return terms > MOST_TERMS
    ? `the pods of the namespace ${namespace} have ${terms} terms of ${kinds}, more than ${MOST_TERMS}, ${end}`
    : `the ${terms} terms of ${kinds} in the namespace ${namespace} ask about more than ${MOST_MEETINGS} pods, ${end}`;
}
