/**
 * Questions about the files of a repository, as data: whoever asks them can have them answered in another thread, which
 * can be stopped.
 */
import type { ResourceList } from '../../../../kernel/resource-list.ts';
import { valuesInGit } from '../../yaml/limits.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';
import { type AppliedFolder, AppliedFolders } from '../delivery/applied-folders.ts';
import { editLocation, type LocationEdited } from '../location/edit-location.ts';
import type { FileEdit, MissingFiles, QuotaLocation, TreeSnapshot } from '../location/location.ts';
import { type Raise, type RaisedTogether, raiseTogether } from '../location/raise-together.ts';
import { roundedLimits } from '../location/spelling.ts';
import { locateInTree, type Scan, type ScanOptions, scanQuotas } from '../scan/scan.ts';
import { locateQuota } from '../search/locate-quota.ts';
import type { LocatedQuota, NotLocated, SourceTree } from '../search/resolve-quota.ts';
import type { LocateAnswer, WantedQuota } from '../search/search.ts';

/** What each kind of question is about. */
interface Asked {
  /** Where the quota is, by one candidate. */
  readonly locate: {
    readonly wanted: WantedQuota;
    readonly candidate: SourceCandidate;
    /** What is known to be applied from the tree. */
    readonly applied?: readonly AppliedFolder[];
  };
  /** Where the quota is, by everything that the tree says. */
  readonly locateInTree: { readonly wanted: Omit<WantedQuota, 'cluster'>; readonly options: ScanOptions };
  /** Where all quotas are. */
  readonly scan: { readonly options: ScanOptions };
  /** What the files are with other limits. */
  readonly edit: {
    readonly location: QuotaLocation;
    readonly limits: ResourceList;
    /** Whether a limit may become greater where only whole numbers can be written; default false. */
    readonly roundsUp?: boolean;
  };
  /** What the files are with many limits raised. */
  readonly raiseTogether: { readonly raises: readonly Raise[] };
  /** The limits of a quota in a file. */
  readonly limits: {
    readonly path: string;
    readonly quota: Pick<QuotaLocation, 'namespace' | 'name'>;
    readonly resources: readonly string[];
  };
}

/** The answers; a question that needs more files first is answered by their paths. */
interface Answers {
  readonly locate: Exclude<LocateAnswer, MissingFiles>;
  readonly locateInTree: LocatedQuota<SourceTree> | NotLocated;
  readonly scan: Scan;
  readonly edit: EditAnswer;
  readonly raiseTogether: RaisedTogether;
  readonly limits: { readonly kind: 'limits'; readonly limits: ResourceList };
}

type EditAnswer =
  /**
   * `changedPath`: the changed file with the quota's values; null when nothing changes. `rounded`: the limits that are
   * greater than asked.
   */
  | {
      readonly kind: 'edited';
      readonly edits: readonly FileEdit[];
      readonly changedPath: string | null;
      readonly rounded: ResourceList;
    }
  | Exclude<LocationEdited, { readonly kind: 'edited' }>;

export type QuestionKind = keyof Asked;
export type TreeQuestion<Kind extends QuestionKind = QuestionKind> = {
  readonly [K in Kind]: { readonly kind: K } & Asked[K];
}[Kind];
export type TreeAnswer<Kind extends QuestionKind = QuestionKind> = Answers[Kind];

/** The result depends only on the tree's texts and on what of it is not read. */
export function answerTo(tree: TreeSnapshot, question: TreeQuestion): TreeAnswer | MissingFiles {
  switch (question.kind) {
    case 'locate':
      return locateQuota(tree, question.wanted, question.candidate, {
        applied: AppliedFolders.of(question.applied ?? []),
      });
    case 'locateInTree':
      return locateInTree(tree, question.wanted, question.options);
    case 'scan':
      return scanQuotas(tree, question.options, scanAnswersOf(tree));
    case 'edit':
      return edited(tree, question);
    case 'raiseTogether':
      return raiseTogether(tree, question.raises);
    case 'limits': {
      const text = tree.texts.get(question.path) ?? '';
      return { kind: 'limits', limits: valuesInGit(text, question.quota, question.resources) };
    }
  }
}

/** What a scan knew before it asked for more files. */
const scanAnswers = new WeakMap<TreeSnapshot['texts'], NonNullable<Parameters<typeof scanQuotas>[2]>>();

function scanAnswersOf({ texts }: TreeSnapshot): NonNullable<Parameters<typeof scanQuotas>[2]> {
  const answers = scanAnswers.get(texts) ?? new Map();
  scanAnswers.set(texts, answers);
  return answers;
}

function edited(tree: TreeSnapshot, { location, limits, roundsUp }: Asked['edit']): EditAnswer {
  const rounded = roundsUp === true ? roundedLimits(tree, location, limits) : {};
  const result = editLocation(tree, location, { ...limits, ...rounded });
  if (result.kind !== 'edited') {
    return result;
  }
  const { edits } = result;
  const resources = Object.keys(limits);
  const changed = edits.find(({ after }) => Object.keys(valuesInGit(after, location, resources)).length > 0);
  return { kind: 'edited', edits, changedPath: (changed ?? edits[0])?.path ?? null, rounded };
}
