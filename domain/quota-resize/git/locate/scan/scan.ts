/** Locates every quota of a checkout with the same search that the worker uses; for `headroom sources`. */
import type { SourceProblem } from '../../../model/observation.ts';
import { candidateOf, type IdentifiedQuota, labelOf, obstacleOf } from '../location/describe-location.ts';
import { type Inventory, inventoryOf } from './inventory.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { locateQuota } from '../search/locate-quota.ts';
import type { Candidate, TreeSnapshot, MissingFiles, QuotaLocation } from '../location/location.ts';
import { defaultPathTemplate, parsePathTemplate } from '../candidate/path-template.ts';
import {
  answerOfTree,
  type LocatedQuota,
  type NotLocated,
  type RepositoryAnswer,
  resolveQuota,
  type SourceTree,
} from '../search/resolve-quota.ts';
import type { WantedQuota } from '../search/search.ts';
import { SharedWork } from '../search/shared-work.ts';
import { candidatesInTree } from './tree-candidates.ts';

export interface ScanOptions {
  readonly cluster?: string;
  /** The worker's configured path template; default: the built-in one. */
  readonly template?: string;
  /** Existing namespaces besides those that the tree declares. */
  readonly namespaces?: readonly string[];
}

/** A quota, or a file that may contain quotas, without a certain location. */
interface UnplacedSource {
  readonly namespace: string | null;
  readonly name: string | null;
  readonly path: string;
  readonly line: number;
  readonly reason: SourceProblem;
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

export interface Scan {
  readonly kind: 'scanned';
  readonly quotas: readonly QuotaLocation[];
  readonly unlocated: readonly UnplacedSource[];
}

/** Results that need no further file; they stay valid while more of the tree is read. */
type Answers = Map<string, LocatedQuota<SourceTree> | NotLocated>;

/**
 * Every quota of the tree with the location of each value, and every one without a certain location, with the reason.
 *
 * @param tree with the texts of at least the files that `mattersToScan`.
 * @param answers those of an earlier call for the same tree, when fewer files were read.
 * @throws {GitPathError} when the template is invalid.
 */
export function scanQuotas(
  tree: TreeSnapshot,
  options: ScanOptions = {},
  answers: Answers = new Map(),
): MissingFiles | Scan {
  const inventory = inventoryFor(tree, options);
  if (inventory.kind === 'missingFiles') {
    return inventory;
  }
  const missing = new Set<string>();
  const shared = new SharedWork(tree);
  const sources: Sources = { locations: [], unlocated: inventory.notes.map((note) => fromNote(note)) };
  for (const group of groupsOf(inventory)) {
    const needs = addGroup(sources, group, (wanted) => {
      const key = JSON.stringify(wanted);
      const answer = answers.get(key) ?? located(tree, inventory, wanted, options, shared);
      if (answer.kind !== 'missingFiles') {
        answers.set(key, answer);
      }
      return answer;
    });
    for (const path of needs) {
      missing.add(path);
    }
  }
  return missing.size > 0 ? { kind: 'missingFiles', paths: [...missing].toSorted() } : sorted(sources);
}

/**
 * The location of one quota in a tree, by what applies it in the tree, by the path template, and by a search.
 *
 * @throws {GitPathError} when the template is invalid.
 */
export function locateInTree(
  tree: TreeSnapshot,
  wanted: Omit<WantedQuota, 'cluster'>,
  options: ScanOptions = {},
): MissingFiles | LocatedQuota<SourceTree> | NotLocated {
  const inventory = inventoryFor(tree, options);
  return inventory.kind === 'missingFiles' ? inventory : located(tree, inventory, wanted, options);
}

function inventoryFor(
  tree: TreeSnapshot,
  { cluster, template, namespaces = [] }: ScanOptions,
): MissingFiles | Inventory {
  const templates = [template, defaultPathTemplate].flatMap((text) =>
    text === undefined ? [] : [parsePathTemplate(text)],
  );
  return inventoryOf(tree, { cluster, templates, namespaces });
}

const CHECKOUT: SourceTree = { name: null };

function located(
  tree: TreeSnapshot,
  inventory: Inventory,
  quota: Omit<WantedQuota, 'cluster'>,
  { cluster, template = defaultPathTemplate }: ScanOptions,
  shared?: SharedWork,
): MissingFiles | LocatedQuota<SourceTree> | NotLocated {
  const wanted: WantedQuota = { ...quota, cluster };
  const { candidates, applied } = candidatesInTree(tree, inventory, wanted, template);
  const answers: (readonly RepositoryAnswer<SourceTree>[])[] = [];
  for (;;) {
    const step = resolveQuota(wanted, candidates, answers);
    if (step.kind !== 'ask') {
      return step;
    }
    const answer = locateQuota(tree, wanted, step.candidate, { applied, ...(shared === undefined ? {} : { shared }) });
    if (answer.kind === 'missingFiles') {
      return answer;
    }
    answers.push([answerOfTree(CHECKOUT, step.candidate, answer)]);
  }
}

interface Sources {
  readonly locations: QuotaLocation[];
  readonly unlocated: UnplacedSource[];
}

/** Entries of the inventory that may be one and the same quota. */
type Group = readonly [IdentifiedQuota, ...IdentifiedQuota[]];

/** Groups by namespace and name; a quota without either is a group of its own. */
function groupsOf({ quotas }: Inventory): readonly Group[] {
  const groups = new Map<string, [IdentifiedQuota, ...IdentifiedQuota[]]>();
  for (const [index, identified] of quotas.entries()) {
    const isNamed = identified.identity !== undefined && identified.quota.name !== '';
    const key = isNamed ? `${identified.identity?.namespace}/${identified.quota.name}` : `?${index}`;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [identified]);
    } else {
      group.push(identified);
    }
  }
  return [...groups.values()];
}

/** Adds the result for one group; returns the files that have to be read first. */
function addGroup(
  sources: Sources,
  group: Group,
  locate: (wanted: Omit<WantedQuota, 'cluster'>) => MissingFiles | LocatedQuota<SourceTree> | NotLocated,
): readonly string[] {
  const [first] = group;
  const unknown = unknownOf(first);
  if (unknown !== undefined || first.identity === undefined) {
    sources.unlocated.push(...(unknown === undefined ? [] : [unplacedBecause(first, unknown)]));
    return [];
  }
  const identity = { namespace: first.identity.namespace, name: first.quota.name };
  const resources = [
    ...new Set(group.flatMap(({ quota }) => [...quota.values.keys(), ...quota.unreadable.map(({ key }) => key)])),
  ].toSorted();
  const whole = locate({ ...identity, resources });
  if (whole.kind === 'located') {
    sources.locations.push(whole.location);
    return [];
  }
  if (whole.kind === 'missingFiles') {
    return whole.paths;
  }
  // The limits are tried one by one, because some of them may have a certain location.
  const single = resources.map((key) => ({ key, answer: locate({ ...identity, resources: [key] }) }));
  const needs = single.flatMap(({ answer }) => (answer.kind === 'missingFiles' ? answer.paths : []));
  if (needs.length > 0) {
    return needs;
  }
  sources.locations.push(...together(single));
  sources.unlocated.push(
    ...(single.length === 0 ? [fromAnswer(group, whole)] : []),
    ...single.flatMap(({ key, answer }) => (answer.kind === 'blocked' ? [fromAnswer(group, answer, key)] : [])),
  );
  return [];
}

/** Combines values that were located one by one into one quota. */
function together(
  single: readonly { readonly key: string; readonly answer: { readonly kind: string } }[],
): readonly QuotaLocation[] {
  const found = single.flatMap(({ key, answer }) => (isLocated(answer) ? [{ key, location: answer.location }] : []));
  const [first] = found;
  if (first === undefined) {
    return [];
  }
  const pick = <T>(of: (location: QuotaLocation) => Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(
      found.flatMap(({ key, location }) => {
        const picked = of(location)[key];
        return picked === undefined ? [] : [[key, picked]];
      }),
    );
  return [{ ...first.location, values: pick(({ values }) => values), edits: pick(({ edits }) => edits) }];
}

function isLocated(answer: { readonly kind: string }): answer is LocatedQuota<SourceTree> {
  return answer.kind === 'located';
}

/** Why the quota cannot be searched for: its namespace or its name is unknown. */
function unknownOf({ quota, identity }: IdentifiedQuota): string | undefined {
  if (identity !== undefined && isVariable(identity.namespace)) {
    return `${labelOf(quota)} is of the namespace ${identity.namespace}, which something fills in that is not here: write the namespace, or name the place with the annotation resizer.io/git-path on the namespace itself`;
  }
  if (identity !== undefined && quota.name !== '') {
    return undefined;
  }
  const unnamed =
    quota.layout === 'helm'
      ? `${labelOf(quota)} gets its namespace from its release, which nothing here says: install the chart with an Application or a HelmRelease, or give a path template such as namespaces/{{ .Namespace }}`
      : `${labelOf(quota)} names no namespace, and neither a kustomization nor its path does: write metadata.namespace, or give a path template such as namespaces/{{ .Namespace }}`;
  return quota.name === '' ? (obstacleOf(quota) ?? unnamed) : unnamed;
}

/** Flux fills `${TENANT}` in; until then it is nobody's namespace. */
function isVariable(namespace: string): boolean {
  return namespace.includes('${');
}

function unplacedBecause(identified: IdentifiedQuota, message: string): UnplacedSource {
  const { path, line, namespace, name } = candidateOf(identified);
  return { namespace, name, path, line, reason: 'Unplaceable', message, candidates: [candidateOf(identified)] };
}

/** @param key the limit that was searched for alone. */
function fromAnswer(group: Group, { reason, message, candidates }: NotLocated, key?: string): UnplacedSource {
  const own = candidateOf(group[0]);
  const unreadable = group.flatMap(({ quota }) => quota.unreadable).find((entry) => entry.key === key)?.note;
  const { path, line } = unreadable ?? (reason === 'FoundTwice' ? (candidates[0] ?? own) : own);
  const location = `${path}:${line}: `;
  return {
    namespace: own.namespace,
    name: own.name,
    path,
    line,
    reason,
    message: message.startsWith(location) ? message.slice(location.length) : message,
    candidates,
  };
}

function fromNote({ namespace, name, path, line, reason, message }: SourceNote): UnplacedSource {
  return {
    namespace: namespace ?? null,
    name: name ?? null,
    path,
    line,
    reason: reason ?? 'Unplaceable',
    message,
    candidates: [],
  };
}

function sorted({ locations, unlocated }: Sources): Scan {
  const distinct = new Map(
    unlocated.map((source) => [
      JSON.stringify([source.namespace, source.name, source.path, source.line, source.message]),
      source,
    ]),
  );
  return {
    kind: 'scanned',
    quotas: locations.toSorted(byLocation),
    unlocated: [...distinct.values()].toSorted(byLocation),
  };
}

function byLocation(a: { path: string; line: number }, b: { path: string; line: number }): number {
  return a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;
}
