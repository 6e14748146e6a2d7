/**
 * Locates a quota in the GitOps repositories and edits its files in memory. The source candidates are tried in order.
 * Nothing is written to the forge.
 */
import { compareQuantities } from '../../../domain/kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { ChangedPlace } from '../../../domain/quota-resize/policy/allowed-place.ts';
import type { Placement } from '../../../domain/quota-resize/model/placement.ts';
import type { SourceProblem } from '../../../domain/quota-resize/model/observation.ts';
import { limitsInGit } from '../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { AppliedFolder } from '../../../domain/quota-resize/git/locate/delivery/applied-folders.ts';
import type { SourceCandidate } from '../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { FileEdit, QuotaLocation } from '../../../domain/quota-resize/git/locate/location/location.ts';
import {
  isLedBy,
  isSameLocation,
  placementOf,
  textsOf,
} from '../../../domain/quota-resize/git/locate/location/placement.ts';
import {
  answerOfTree,
  notLocated,
  type RepositoryAnswer,
  resolveQuota,
} from '../../../domain/quota-resize/git/locate/search/resolve-quota.ts';
import type { WantedQuota } from '../../../domain/quota-resize/git/locate/search/search.ts';
import type { Alongside, BaseBranch, Forge, MissingBase } from '../../forge/forge.ts';
import type { DeliveredRepositories } from './deliveries.ts';
import { unlessTooCostly } from './content/lookup.ts';
import { type GitTree, GitTrees } from './git-tree.ts';

/** A quota in Git at one base commit, with its edits. */
export interface QuotaFile {
  readonly kind: 'found';
  /** Contains the edits once they are applied. */
  readonly tree: GitTree;
  readonly placement: Placement;
  /** The file of the object, and the line of its name. */
  readonly path: string;
  readonly line: number;
  /** The changed file with the quota's values: for an overlay the patch, where the object itself stays unchanged. */
  readonly changedPath: string;
  /** How it was found; one sentence. */
  readonly how: string;
  /** The present values of the requested resources in Git. */
  readonly limits: ResourceList;
  /** The requested limits that are above Git's values. */
  readonly raised: ResourceList;
  /** Limits that have to be greater than requested, because only whole numbers can be written there. */
  readonly rounded: ResourceList;
  /** The files with `raised` and `rounded` applied; none when there is nothing to raise. */
  readonly edits: readonly FileEdit[];
}

export interface QuotaFileProblem {
  readonly kind: 'blocked';
  readonly reason: SourceProblem;
  readonly message: string;
}

interface Search {
  readonly repositories: DeliveredRepositories;
  readonly target: QuotaTarget;
  readonly limits: ResourceList;
  readonly current: ResourceList | undefined;
  readonly recorded: ResourceList | undefined;
  readonly trees: GitTrees;
  readonly maxBaseAgeMs: number;
  readonly alongside: string | undefined;
}

export interface SearchOptions {
  readonly candidates: readonly SourceCandidate[];
  /** The limits in force, which identify one of several mappings in a values file. */
  readonly current?: ResourceList | undefined;
  /** Texts by which a place that was found before is recognized among several, whatever is in force by now. */
  readonly recorded?: ResourceList | undefined;
  /** Trees that an earlier search of the same task opened. */
  readonly trees?: GitTrees;
  /** How old the cached base branch may be. */
  readonly maxBaseAgeMs?: number;
  /**
   * The beginning of the names of branches whose open pull requests are read together with a base; absent or empty: of
   * none.
   */
  readonly alongside?: string | undefined;
  /**
   * Before the pull request exists, all repositories are searched again: a second copy may have been added to another
   * one.
   */
  readonly isFirstUse?: boolean;
  /** Whether limits may become greater where only whole numbers can be written: before they are decided. Default false. */
  readonly roundsUp?: boolean;
  /** The commit to look at; nothing is searched for then, and everything is as it was decided. Absent: the base branch as it is now. */
  readonly at?: BaseBranch | undefined;
}

/** Where a decision's quota was found. */
interface RecordedPlacement {
  readonly repository: string;
  readonly base: string;
  readonly placement: Placement;
}

export interface RecordedOptions extends Omit<SearchOptions, 'recorded'> {
  /** Null for a decision without a placement. */
  readonly recorded: RecordedPlacement | null;
}

/**
 * The quota at its decision's placement, edited in memory. It is searched for again only when it is not there any more,
 * or when a new candidate comes before the one that led to it.
 */
export async function recordedQuotaFile(
  repositories: DeliveredRepositories,
  target: QuotaTarget,
  limits: ResourceList,
  options: RecordedOptions,
): Promise<QuotaFile | QuotaFileProblem> {
  return await unlessTooCostly(() => verifiedOrFound(repositories, target, limits, options), tooCostly);
}

/** The message names the file. */
function tooCostly({ message }: Error): QuotaFileProblem {
  return blocked('ContentTooCostly', `${message}; make that file simpler, or split it`);
}

async function verifiedOrFound(
  repositories: DeliveredRepositories,
  target: QuotaTarget,
  limits: ResourceList,
  { recorded, ...options }: RecordedOptions,
): Promise<QuotaFile | QuotaFileProblem> {
  const trees = options.trees ?? new GitTrees();
  const isOnlyThere = recorded !== null && (options.isFirstUse !== true || isOfOneRepository(repositories, recorded));
  const verified = isOnlyThere ? await verify(repositories, target, limits, { ...options, recorded, trees }) : null;
  if (verified !== null) return verified;
  if (options.at !== undefined) return blocked('Unplaceable', `the quota is not where it was when this was decided`);
  const known = recorded === null ? {} : { recorded: textsOf(recorded.placement) };
  return await findQuotaFile(repositories, target, limits, { ...options, ...known, trees });
}

/** Whether only this repository was searched for the placement, and only this one would be searched again. */
function isOfOneRepository({ names }: DeliveredRepositories, { placement }: RecordedPlacement): boolean {
  return placement.candidate.repository !== undefined || names.length === 1;
}

/** The quota at a placement, by the candidate that it was found by; null when that gives another result now. */
async function verify(
  repositories: DeliveredRepositories,
  target: QuotaTarget,
  limits: ResourceList,
  { recorded, ...options }: Omit<SearchOptions, 'recorded'> & { readonly recorded: RecordedPlacement },
): Promise<QuotaFile | QuotaFileProblem | null> {
  const { repository, base: baseName, placement } = recorded;
  const { candidates, trees = new GitTrees(), maxBaseAgeMs = 0, alongside, at } = options;
  if (!isLedBy(placement, candidates) || repositories.nameOf(repository) === null) return null;
  const forge = repositories.of(repository);
  const base =
    at ?? (await forge.files.base(maxBaseAgeMs, placement.candidate.ref, readWith(alongside, placement.candidate)));
  if (base.kind === 'missing' || base.name !== baseName) return null;
  const tree = await trees.at(forge, base);
  const wanted = wantedOf({ target, limits, current: options.current, recorded: textsOf(placement) });
  const applied = await appliedIn(repositories, tree, placement.candidate);
  const located = await tree.ask({ kind: 'locate', wanted, candidate: placement.candidate, applied });
  if (located.kind !== 'located' || !isSameLocation(placement, located.location, wanted.resources)) return null;
  const { candidate, tried } = placement;
  return await edited({ limits, roundsUp: false }, tree, located.location, {
    candidate,
    tried,
    ...(await branchBy(candidate, tree, maxBaseAgeMs)),
  });
}

/** Locates the quota and edits it in memory. */
export async function findQuotaFile(
  repositories: DeliveredRepositories,
  target: QuotaTarget,
  limits: ResourceList,
  options: SearchOptions,
): Promise<QuotaFile | QuotaFileProblem> {
  return await unlessTooCostly(() => searched(repositories, target, limits, options), tooCostly);
}

async function searched(
  repositories: DeliveredRepositories,
  target: QuotaTarget,
  limits: ResourceList,
  options: SearchOptions,
): Promise<QuotaFile | QuotaFileProblem> {
  const { candidates, current, recorded, trees = new GitTrees(), maxBaseAgeMs = 0, alongside } = options;
  const search: Search = { repositories, target, limits, current, recorded, trees, maxBaseAgeMs, alongside };
  const answers: (readonly RepositoryAnswer<GitTree>[])[] = [];
  const wanted = wantedOf(search);
  for (;;) {
    const step = resolveQuota(wanted, candidates, answers);
    switch (step.kind) {
      case 'ask':
        answers.push(await answersTo(search, step.candidate));
        break;
      case 'blocked':
        return blocked(step.reason, step.message);
      case 'located':
        return await edited({ limits, roundsUp: options.roundsUp ?? false }, step.tree, step.location, {
          candidate: step.candidate,
          tried: answers.length - 1,
          ...(await branchBy(step.candidate, step.tree, maxBaseAgeMs)),
        });
    }
  }
}

/** Whether nothing but an annotation names the branch: neither the configuration nor the repository's default does. */
async function branchBy(
  { refBy }: SourceCandidate,
  { forge, base }: GitTree,
  maxBaseAgeMs: number,
): Promise<Pick<Placement, 'branchBy'>> {
  if (refBy === undefined) return {};
  const configured = await forge.files.base(maxBaseAgeMs);
  return configured.kind === 'branch' && configured.name === base.name ? {} : { branchBy: refBy };
}

function wantedOf({
  target,
  limits,
  current,
  recorded,
}: Pick<Search, 'target' | 'limits' | 'current' | 'recorded'>): WantedQuota {
  return {
    namespace: target.namespace,
    name: target.quota,
    cluster: target.cluster,
    resources: Object.keys(limits),
    ...(current === undefined ? {} : { current }),
    ...(recorded === undefined ? {} : { recorded }),
  };
}

/** The results of a candidate in the repository that it names, or in all of them. */
async function answersTo(search: Search, candidate: SourceCandidate): Promise<readonly RepositoryAnswer<GitTree>[]> {
  const { repositories } = search;
  const named = candidate.repository === undefined ? null : repositories.nameOf(candidate.repository);
  if (candidate.repository !== undefined && named === null) {
    const message = `${candidate.learntFrom} names the repository ${candidate.repository}, which is not configured; add it to GITHUB_REPOSITORIES (now: ${repositories.names.join(', ')})`;
    return [notLocated('Unplaceable', message)];
  }
  const answers: RepositoryAnswer<GitTree>[] = [];
  for (const name of named === null ? repositories.names : [named]) {
    answers.push(await answerOf(search, candidate, repositories.of(name)));
  }
  return answers;
}

async function answerOf(search: Search, candidate: SourceCandidate, forge: Forge): Promise<RepositoryAnswer<GitTree>> {
  const base = await forge.files.base(search.maxBaseAgeMs, candidate.ref, readWith(search.alongside, candidate));
  if (base.kind === 'missing') return missing(candidate, base);
  const tree = await search.trees.at(forge, base);
  const wanted = wantedOf(search);
  const applied = await appliedIn(search.repositories, tree, candidate);
  return answerOfTree(tree, candidate, await tree.ask({ kind: 'locate', wanted, candidate, applied }));
}

/** What the cluster applies from the tree: a file that feeds the quotas of others too is not changed for one. */
async function appliedIn(
  { deliveriesOf }: DeliveredRepositories,
  { forge, base }: GitTree,
  { ref }: SourceCandidate,
): Promise<readonly AppliedFolder[]> {
  const all = (await deliveriesOf?.(forge.repository)) ?? [];
  if (all.length === 0) return [];
  const ofDefault = ref === undefined || (await nameOfDefault(forge)) === base.name;
  return all.flatMap(({ branch, ...applied }) =>
    branch === base.name || (branch === undefined && ofDefault) ? [applied] : [],
  );
}

/** However old it is: names of branches hardly change. */
async function nameOfDefault(forge: Forge): Promise<string | null> {
  const base = await forge.files.base(Number.POSITIVE_INFINITY);
  return base.kind === 'branch' ? base.name : null;
}

function readWith(beginning: string | undefined, { path }: SourceCandidate): Alongside | undefined {
  return beginning === undefined ? undefined : { beginning, path };
}

function missing({ ref, learntFrom }: SourceCandidate, { what, message }: MissingBase): RepositoryAnswer<GitTree> {
  if (ref === undefined) return { kind: 'miss', reason: 'RepositoryNotFound', message, isUnseen: what !== 'commit' };
  const why = `${message} (${learntFrom})`;
  return what === 'repository' ? notLocated('RepositoryNotFound', why) : { kind: 'noBranch', message: why };
}

/** The location with its edits, if the quota can be raised there. */
async function edited(
  { limits, roundsUp }: { readonly limits: ResourceList; readonly roundsUp: boolean },
  tree: GitTree,
  location: QuotaLocation,
  lead: Pick<Placement, 'candidate' | 'tried' | 'branchBy'>,
): Promise<QuotaFile | QuotaFileProblem> {
  const inGit = limitsInGit(location, Object.keys(limits));
  const raised = above(limits, inGit);
  const found = {
    kind: 'found',
    tree,
    placement: placementOf(location, Object.keys(limits), lead),
    path: location.path,
    line: location.line,
    how: `in ${tree.name}, ${location.how}`,
    limits: inGit,
    raised,
    rounded: {},
  } as const;
  if (Object.keys(raised).length === 0) return { ...found, changedPath: location.path, edits: [] };
  const edit = await tree.ask({ kind: 'edit', location, limits: raised, roundsUp });
  return edit.kind === 'edited'
    ? { ...found, changedPath: edit.changedPath ?? location.path, edits: edit.edits, rounded: edit.rounded }
    : blocked('Unplaceable', `${tree.name}, ${location.path}: ${edit.message}`);
}

/** The requested limits that are above Git's: a higher value in Git is never lowered. */
function above(limits: ResourceList, inGit: ResourceList): ResourceList {
  return Object.fromEntries(
    Object.entries(limits).filter(
      ([resource]) =>
        !Object.hasOwn(inGit, resource) ||
        compareQuantities(quantityIn(limits, resource), quantityIn(inGit, resource)) > 0,
    ),
  );
}

function blocked(reason: SourceProblem, message: string): QuotaFileProblem {
  return { kind: 'blocked', reason, message };
}

/** The place in Git that a quota's values are changed at. */
export function changedPlace({ tree, placement }: QuotaFile): ChangedPlace {
  return { repository: tree.forge.repository, branch: tree.base.name, values: Object.values(placement.values) };
}
