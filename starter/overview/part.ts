/** What the overview page shows of a controller: data, of which the page makes HTML. */
import type { EpochMs } from '../../domain/kernel/time.ts';

export interface OverviewLink {
  readonly text: string;
  /** Shown as text where it is neither http nor https. */
  readonly url: string;
}

/** What acts on a line, or tells more of it. */
interface Ways {
  readonly links: readonly OverviewLink[];
  /** The id of the workflow that is about it, which the page links to in Temporal's UI; null where none runs. */
  readonly workflow: string | null;
  /** A command line, such as `kubectl headroom approve team-a/compute --reason WHY`; null where nothing is to be done. One that a shell would read as more than words is not shown. */
  readonly command: string | null;
}

/** Something that does not go on before somebody or something has moved. */
export interface Waiting extends Ways {
  /** `quota team-a/compute`. */
  readonly what: string;
  /** Whom it waits for: `a person`, `GitHub`. */
  readonly whom: string;
  /** Whether that is a person who reads the page: these lines come first. */
  readonly isForPeople: boolean;
  /** Null where nothing in the cluster says it. */
  readonly since: EpochMs | null;
  /** What it waits for, and what ends the wait, a sentence. */
  readonly why: string;
}

export interface OverviewCell {
  readonly text: string;
  /** A second line. */
  readonly detail?: string;
  /** Draws how full something is. */
  readonly percent?: number;
  /** A moment, shown with how far it is away. */
  readonly at?: EpochMs;
  /** `bad`: a person has to look; `warn`: soon. */
  readonly tone?: 'bad' | 'warn';
}

export interface OverviewRow extends Ways {
  /** One for each column; the first names the row. */
  readonly cells: readonly OverviewCell[];
}

export interface OverviewTable {
  /** Of lower-case letters, once on the page: part of its address. */
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  /** What stands in place of a table without rows, a sentence. */
  readonly empty: string;
  /** A sentence before the rows. */
  readonly summary?: string;
  readonly total: number;
  /** The rows of a part, so that only those that are shown are made. */
  readonly rows: (from: number, to: number) => readonly OverviewRow[];
}

export interface OverviewPart {
  readonly waiting: readonly Waiting[];
  readonly tables: readonly OverviewTable[];
}

export interface OverviewQuestion {
  /** Only what is in this namespace; null: everything. What is in no namespace is shown always. */
  readonly namespace: string | null;
  readonly now: EpochMs;
}

/** Answers from caches, at once. */
export type Overview = (question: OverviewQuestion) => OverviewPart;
