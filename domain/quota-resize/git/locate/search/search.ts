/** One search for one quota: where to look, and how the results are worded. */
import { compareQuantities, isQuantity, parseQuantity } from '../../../../kernel/quantity.ts';
import type { ResourceList } from '../../../../kernel/resource-list.ts';
import type { SourceProblem } from '../../../model/observation.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';
import type { Candidate, MissingFiles, QuotaLocation, Unlocated } from '../location/location.ts';
import type { AppliedFolders } from '../delivery/applied-folders.ts';
import type { SharedWork } from './shared-work.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** Files to read first, the location, or why there is none. */
export type LocateAnswer = MissingFiles | { readonly kind: 'located'; readonly location: QuotaLocation } | Unlocated;

/** The quota that is searched for. */
export interface WantedQuota {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: quotas of every cluster match. */
  readonly cluster: string | undefined;
  /** The quota keys that are to be raised. */
  readonly resources: readonly string[];
  /** The limits in force, which distinguish two mappings of values, and which a value of a chart must hold. */
  readonly current?: ResourceList;
  /** The texts of a place that was found before: they distinguish two mappings as the limits in force did then. */
  readonly recorded?: ResourceList;
}

/** The limits by which one of several mappings is recognized. */
export function identifyingLimits({ current, recorded }: WantedQuota): ResourceList | undefined {
  return current === undefined && recorded === undefined ? undefined : { ...current, ...recorded };
}

/** The most files that a search reads only because of their names: each may cost a request. */
export const MAX_FILES = 300;
/** The state of one search, shared by its parts. */
export interface Search {
  readonly reader: TreeReader;
  readonly wanted: WantedQuota;
  readonly candidate: SourceCandidate;
  /** Where to look; "" is the root. */
  readonly path: string;
  readonly shared: SharedWork;
  /** What is known to be applied besides what the files that are read say. */
  readonly applied: AppliedFolders;
}

export function unlocated(reason: SourceProblem, message: string, candidates: readonly Candidate[] = []): Unlocated {
  return { kind: 'unlocated', reason, message, candidates };
}

export function where({ path, candidate }: Search): string {
  const folder = path === '' ? 'the whole repository' : `"${path}"`;
  return candidate.from === 'annotation' ? `${folder} (${candidate.learntFrom})` : folder;
}

export function remedy({ wanted, candidate }: Search): string {
  return candidate.from === 'annotation'
    ? `correct ${candidate.learntFrom}`
    : `name its folder or file with the annotation resizer.io/git-path on namespace ${wanted.namespace}, or correct GIT_PATH_TEMPLATE`;
}

export function needs(reader: TreeReader): MissingFiles {
  return { kind: 'missingFiles', paths: [...reader.missing].toSorted() };
}

/** Whether a text is the same quantity as the limit in force. */
export function isCurrent(text: string, current: string | undefined): boolean {
  return (
    current !== undefined &&
    isQuantity(text) &&
    isQuantity(current) &&
    compareQuantities(parseQuantity(text), parseQuantity(current)) === 0
  );
}
