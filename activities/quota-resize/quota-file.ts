/**
 * From a quota to its place in the GitOps repositories, and to the files with the decided limits in them. The ways to look
 * are tried in order. Nothing is written here.
 */
import { compareQuantities } from '../../domain/kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../../domain/kernel/resource-list.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { valuesInGit } from '../../domain/quota-resize/git/yaml/limits.ts';
import type { SourceProblem } from '../../domain/quota-resize/model/observation.ts';
import { editPlace, limitsInGit } from '../../domain/quota-resize/git/locate/edit-location.ts';
import type { SourceHint } from '../../domain/quota-resize/git/locate/source-candidate.ts';
import type { FileEdit, QuotaPlace } from '../../domain/quota-resize/git/locate/location.ts';
import { placeQuota } from '../../domain/quota-resize/git/locate/locate-quota.ts';
import type { Forge, MissingBase } from '../forge/forge.ts';
import type { Repositories } from '../forge/repositories.ts';
import { type GitTree, GitTrees } from './git-tree.ts';

/** A quota in Git at one base commit, and what it becomes. */
export interface QuotaFile {
  readonly kind: 'found';
  /** With the edits laid over once they are applied. */
  readonly tree: GitTree;
  readonly hint: SourceHint;
  /** The file of the object itself, and the line of its name. */
  readonly path: string;
  readonly line: number;
  /** The changed file that says the quota's values: an overlay's patch, where the object itself stays as it is. */
  readonly changedPath: string;
  /** How it was found, one sentence. */
  readonly how: string;
  /** The values of the asked resources in Git. */
  readonly limits: ResourceList;
  /** Those of the asked limits that are above Git's values. */
  readonly raised: ResourceList;
  /** The files with `raised` in them; none when there is nothing to raise. */
  readonly edits: readonly FileEdit[];
}

export interface QuotaFileProblem {
  readonly kind: 'blocked';
  readonly reason: SourceProblem;
  readonly message: string;
}

/** Where a hint led to nothing, for the message of a search that found nothing at all. */
interface Miss {
  readonly kind: 'miss';
  readonly reason: 'FileNotFound' | 'RepositoryNotFound';
  readonly message: string;
  /** It could not be looked at, so the quota may be there. */
  readonly isUnseen: boolean;
}

/** The branch that the hint names is not in this repository, and so nothing is applied from there. */
interface NoBranch {
  readonly kind: 'noBranch';
  readonly message: string;
}

/** What one repository says to a hint. */
type Answer = QuotaFile | QuotaFileProblem | Miss | NoBranch;

interface Search {
  readonly repositories: Repositories;
  readonly target: QuotaTarget;
  readonly limits: ResourceList;
  readonly current: ResourceList | undefined;
  readonly trees: GitTrees;
  readonly maxBaseAgeMs: number;
}

/**
 * Finds the quota and edits it in memory.
 *
 * @param options.current the limits in force, by which one of several mappings in a values file is known.
 * @param options.trees those that an earlier search of the same task opened.
 * @param options.maxBaseAgeMs how old the knowledge of a base branch may be.
 */
export async function findQuotaFile(
  repositories: Repositories,
  target: QuotaTarget,
  limits: ResourceList,
  options: {
    readonly hints: readonly SourceHint[];
    readonly current?: ResourceList | undefined;
    readonly trees?: GitTrees;
    readonly maxBaseAgeMs?: number;
  },
): Promise<QuotaFile | QuotaFileProblem> {
  const { hints, current, trees = new GitTrees(), maxBaseAgeMs = 0 } = options;
  const search: Search = { repositories, target, limits, current, trees, maxBaseAgeMs };
  const misses: Miss[] = [];
  for (const hint of hints) {
    const answer = await followHint(search, hint);
    if ('kind' in answer) return answer;
    misses.push(...answer);
  }
  return nothingFound(target, misses);
}

/** What a hint came to: the quota, what stops the search, or every place where it is not. */
async function followHint(search: Search, hint: SourceHint): Promise<QuotaFile | QuotaFileProblem | readonly Miss[]> {
  if (hint.problem !== undefined) return blocked('Unplaceable', hint.problem);
  const { repositories } = search;
  const named = hint.repository === undefined ? null : repositories.nameOf(hint.repository);
  if (hint.repository !== undefined && named === null) {
    return blocked(
      'Unplaceable',
      `${hint.said} names the repository ${hint.repository}, which is not configured; add it to GITHUB_REPOSITORIES (now: ${repositories.names.join(', ')})`,
    );
  }
  const answers: Answer[] = [];
  for (const name of named === null ? repositories.names : [named]) {
    answers.push(await lookIn(search, hint, repositories.of(name)));
  }
  const [found, second] = answers.filter((answer) => answer.kind === 'found');
  if (found !== undefined && second !== undefined) return foundInTwoRepositories(search.target, found, second);
  const stopped = answers.find((answer) => answer.kind === 'blocked');
  const misses = answers.filter((answer) => answer.kind === 'miss');
  if (found !== undefined) {
    const doubt = stopped ?? misses.find(({ isUnseen }) => isUnseen);
    return doubt === undefined ? found : foundWithDoubt(search.target, found, doubt);
  }
  if (stopped !== undefined) return stopped;
  // Elsewhere than on the branch that is applied, a change would change nothing.
  const noBranch = answers.find((answer) => answer.kind === 'noBranch');
  if (noBranch !== undefined) return blocked('RepositoryNotFound', noBranch.message);
  return misses;
}

async function lookIn(
  { target, limits, current, trees, maxBaseAgeMs }: Search,
  hint: SourceHint,
  forge: Forge,
): Promise<Answer> {
  const base = await forge.files.base(maxBaseAgeMs, hint.ref);
  if (base.kind === 'missing') return missing(hint, base);
  const tree = await trees.at(forge, base);
  const wanted = {
    namespace: target.namespace,
    name: target.quota,
    cluster: target.cluster,
    resources: Object.keys(limits),
    ...(current === undefined ? {} : { current }),
  };
  const placed = await tree.answer((known) => placeQuota(known, wanted, hint));
  if (placed.kind === 'placed') return edited(limits, hint, tree, placed.place);
  const by = hint.from === 'argocd' || hint.from === 'flux' ? `, by ${hint.said}` : '';
  const message = `${tree.name}${by}: ${placed.message}`;
  return placed.reason === 'FileNotFound'
    ? { kind: 'miss', reason: 'FileNotFound', message, isUnseen: false }
    : blocked(placed.reason, message);
}

function missing({ ref, said }: SourceHint, { what, message }: MissingBase): Answer {
  if (ref === undefined) return { kind: 'miss', reason: 'RepositoryNotFound', message, isUnseen: what !== 'commit' };
  const why = `${message} (${said})`;
  return what === 'repository' ? blocked('RepositoryNotFound', why) : { kind: 'noBranch', message: why };
}

/** The found place with the edit that raises it, where that is possible. */
function edited(
  limits: ResourceList,
  hint: SourceHint,
  tree: GitTree,
  place: QuotaPlace,
): QuotaFile | QuotaFileProblem {
  const inGit = limitsInGit(place, Object.keys(limits));
  const raised = above(limits, inGit);
  const found = {
    kind: 'found',
    tree,
    hint,
    path: place.path,
    line: place.line,
    how: `in ${tree.name}, ${place.how}`,
    limits: inGit,
    raised,
  } as const;
  if (Object.keys(raised).length === 0) return { ...found, changedPath: place.path, edits: [] };
  const edit = editPlace(tree.known, place, raised);
  return edit.kind === 'edited'
    ? { ...found, changedPath: changedPathOf(place, edit.edits, raised), edits: edit.edits }
    : blocked('Unplaceable', `${tree.name}, ${place.path}: ${edit.message}`);
}

function changedPathOf(place: QuotaPlace, edits: readonly FileEdit[], raised: ResourceList): string {
  const says = edits.find(({ after }) => Object.keys(valuesInGit(after, place, Object.keys(raised))).length > 0);
  return (says ?? edits[0])?.path ?? place.path;
}

/** The asked limits that Git does not hold yet: what Git has above them is never lowered. */
function above(limits: ResourceList, inGit: ResourceList): ResourceList {
  return Object.fromEntries(
    Object.entries(limits).filter(
      ([resource]) =>
        !Object.hasOwn(inGit, resource) ||
        compareQuantities(quantityIn(limits, resource), quantityIn(inGit, resource)) > 0,
    ),
  );
}

function foundInTwoRepositories(target: QuotaTarget, one: QuotaFile, other: QuotaFile): QuotaFileProblem {
  const places = [one, other].map(({ tree, path, line }) => `${path}:${line} of ${tree.name}`).join(', ');
  return blocked(
    'FoundTwice',
    `ResourceQuota ${targetName(target)} stands in two repositories: ${places}; keep one, or name its repository with the annotation resizer.io/git-repository on the namespace`,
  );
}

/** A repository that cannot be seen, or that may have the quota as well, may be the one that is applied. */
function foundWithDoubt(
  target: QuotaTarget,
  { tree, path, line }: QuotaFile,
  doubt: { readonly reason: SourceProblem; readonly message: string },
): QuotaFileProblem {
  return blocked(
    doubt.reason,
    `ResourceQuota ${targetName(target)} is at ${path}:${line} of ${tree.name}, but another repository may have it too: ${doubt.message}; settle that, or name the quota's repository with the annotation resizer.io/git-repository on the namespace`,
  );
}

/** Every place where it is not, with what would settle it once. */
function nothingFound(target: QuotaTarget, misses: readonly Miss[]): QuotaFileProblem {
  // A repository that cannot be seen may be the one.
  const unseen = misses.filter(({ reason }) => reason === 'RepositoryNotFound');
  if (unseen.length > 0) return blocked('RepositoryNotFound', unseen.map(({ message }) => message).join('; '));
  if (misses.length === 0) {
    return blocked('FileNotFound', `there is nowhere to look for ResourceQuota ${targetName(target)}`);
  }
  const parts = misses.map(({ message }) => {
    const remedyAt = message.lastIndexOf('; ');
    return { searched: message.slice(0, remedyAt), remedy: message.slice(remedyAt + 2) };
  });
  const remedies = new Set(parts.map(({ remedy }) => remedy));
  return blocked('FileNotFound', [...parts.map(({ searched }) => searched), ...remedies].join('; '));
}

function blocked(reason: SourceProblem, message: string): QuotaFileProblem {
  return { kind: 'blocked', reason, message };
}
