/** One question about one quota: where to look, and how its answers are worded. */
import { compareQuantities, isQuantity, parseQuantity } from '../../../kernel/quantity.ts';
import type { ResourceList } from '../../../kernel/resource-list.ts';
import type { SourceProblem } from '../../model/observation.ts';
import type { SourceHint } from './source-candidate.ts';
import type { Candidate, NeedsFiles, QuotaPlace, Unplaced } from './location.ts';
import type { TreeReader } from './tree-reader.ts';

/** Files to read first, the place, or why there is none. */
export type PlaceAnswer = NeedsFiles | { readonly kind: 'placed'; readonly place: QuotaPlace } | Unplaced;

/** Which quota is looked for. */
export interface WantedQuota {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: those of every cluster count. */
  readonly cluster: string | undefined;
  /** The quota keys that are to be raised. */
  readonly resources: readonly string[];
  /** The limits in force, which tell two mappings of values apart. */
  readonly current?: ResourceList;
}

/** More files than this are not read for one question: each may cost a request. */
export const MAX_FILES = 300;
/** One question, as its parts pass it on. */
export interface Search {
  readonly reader: TreeReader;
  readonly wanted: WantedQuota;
  readonly hint: SourceHint;
  /** Where to look; "" is the root. */
  readonly path: string;
}

export function unplaced(reason: SourceProblem, message: string, candidates: readonly Candidate[] = []): Unplaced {
  return { kind: 'unplaced', reason, message, candidates };
}

export function where({ path, hint }: Search): string {
  const folder = path === '' ? 'the whole repository' : `"${path}"`;
  return hint.from === 'annotation' ? `${folder} (${hint.said})` : folder;
}

export function remedy({ wanted, hint }: Search): string {
  return hint.from === 'annotation'
    ? `correct ${hint.said}`
    : `name its folder or file with the annotation resizer.io/git-path on namespace ${wanted.namespace}, or correct GIT_PATH_TEMPLATE`;
}

export function needs(reader: TreeReader): NeedsFiles {
  return { kind: 'needs', paths: [...reader.missing].toSorted() };
}

/** Whether a text is the same amount as the limit in force. */
export function isCurrent(text: string, current: string | undefined): boolean {
  return (
    current !== undefined &&
    isQuantity(text) &&
    isQuantity(current) &&
    compareQuantities(parseQuantity(text), parseQuantity(current)) === 0
  );
}
