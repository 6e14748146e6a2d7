/**
 * Tries the source candidates of a quota in order. The first one that leads to the quota with certainty wins; any
 * uncertain result ends the search. This module does not read repositories; its caller does.
 */
import type { SourceProblem } from '../../../model/observation.ts';
import type { Candidate, QuotaLocation } from '../location/location.ts';
import type { LocateAnswer, WantedQuota } from './search.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';

/** The tree in which a candidate was searched. */
export interface SourceTree {
  /** A name for people: `acme/gitops at main`; null when there is only one tree, such as a checkout. */
  readonly name: string | null;
}

/** The quota in one tree. */
export interface LocatedQuota<Tree extends SourceTree> {
  readonly kind: 'located';
  readonly tree: Tree;
  readonly candidate: SourceCandidate;
  readonly location: QuotaLocation;
}

/** Why the search ended without a certain location. */
export interface NotLocated {
  readonly kind: 'blocked';
  readonly reason: SourceProblem;
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

/** A candidate that found nothing in one repository; used in the message when the whole search finds nothing. */
interface Miss {
  readonly kind: 'miss';
  readonly reason: 'FileNotFound' | 'RepositoryNotFound';
  readonly message: string;
  /** Whether the repository could not be read, so that the quota may be in it. */
  readonly isUnseen: boolean;
  readonly candidates?: readonly Candidate[];
}

/** The repository does not have the branch that the candidate names, so nothing is applied from it. */
interface NoBranch {
  readonly kind: 'noBranch';
  readonly message: string;
}

/** The result of one candidate in one repository. */
export type RepositoryAnswer<Tree extends SourceTree> = LocatedQuota<Tree> | NotLocated | Miss | NoBranch;

/** The caller has to search the repositories for a candidate first. */
export interface AskRepositories {
  readonly kind: 'ask';
  readonly candidate: SourceCandidate;
}

/**
 * The location of the quota, the reason why there is none, or the candidate that the caller has to search for next
 * before it calls again.
 *
 * @param answers the results of all repositories for each of the first candidates, in order.
 */
export function resolveQuota<Tree extends SourceTree>(
  wanted: Pick<WantedQuota, 'namespace' | 'name'>,
  candidates: readonly SourceCandidate[],
  answers: readonly (readonly RepositoryAnswer<Tree>[])[],
): LocatedQuota<Tree> | NotLocated | AskRepositories {
  const misses: Miss[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if (candidate.problem !== undefined) {
      return notLocated('Unplaceable', candidate.problem);
    }
    const ofCandidate = answers[index];
    if (ofCandidate === undefined) {
      return { kind: 'ask', candidate };
    }
    const outcome = outcomeOf(wanted, ofCandidate);
    if ('kind' in outcome) {
      return outcome;
    }
    misses.push(...outcome);
  }
  return nothingFound(wanted, misses);
}

/** The result of a search in one tree; a problem is prefixed with the tree's name. */
export function answerOfTree<Tree extends SourceTree>(
  tree: Tree,
  candidate: SourceCandidate,
  answer: Exclude<LocateAnswer, { readonly kind: 'missingFiles' }>,
): RepositoryAnswer<Tree> {
  if (answer.kind === 'located') {
    return { kind: 'located', tree, candidate, location: answer.location };
  }
  const { reason, candidates } = answer;
  const isApplied = candidate.from === 'argocd' || candidate.from === 'flux';
  const source = [tree.name, isApplied ? `by ${candidate.learntFrom}` : null]
    .filter((part) => part !== null)
    .join(', ');
  const message = source === '' ? answer.message : `${source}: ${answer.message}`;
  return reason === 'FileNotFound'
    ? { kind: 'miss', reason, message, isUnseen: false, candidates }
    : notLocated(reason, message, candidates);
}

export function notLocated(reason: SourceProblem, message: string, candidates: readonly Candidate[] = []): NotLocated {
  return { kind: 'blocked', reason, message, candidates };
}

/**
 * The result of one candidate over all repositories: the quota, a reason to end the search, or the repositories without
 * it.
 */
function outcomeOf<Tree extends SourceTree>(
  wanted: Pick<WantedQuota, 'namespace' | 'name'>,
  answers: readonly RepositoryAnswer<Tree>[],
): LocatedQuota<Tree> | NotLocated | readonly Miss[] {
  const [located, second] = answers.filter((answer) => answer.kind === 'located');
  if (located !== undefined && second !== undefined) {
    return inTwoRepositories(wanted, located, second);
  }
  const ended = answers.find((answer) => answer.kind === 'blocked');
  const misses = answers.filter((answer) => answer.kind === 'miss');
  if (located !== undefined) {
    const doubt = ended ?? misses.find(({ isUnseen }) => isUnseen);
    return doubt === undefined ? located : locatedInDoubt(wanted, located, doubt);
  }
  if (ended !== undefined) {
    return ended;
  }
  // The applied branch is missing, so a change on any other branch would have no effect.
  const noBranch = answers.find((answer) => answer.kind === 'noBranch');
  return noBranch === undefined ? misses : notLocated('RepositoryNotFound', noBranch.message);
}

function inTwoRepositories<Tree extends SourceTree>(
  wanted: Pick<WantedQuota, 'namespace' | 'name'>,
  ...located: readonly LocatedQuota<Tree>[]
): NotLocated {
  const locations = located.map((location) => locationText(location)).join(', ');
  return notLocated(
    'FoundTwice',
    `ResourceQuota ${wanted.namespace}/${wanted.name} is in two repositories: ${locations}; keep one, or name its repository with the annotation resizer.io/git-repository on the namespace`,
  );
}

/**
 * The quota was found, but a repository that cannot be read, or that may have the quota too, may be the applied one.
 */
function locatedInDoubt<Tree extends SourceTree>(
  wanted: Pick<WantedQuota, 'namespace' | 'name'>,
  located: LocatedQuota<Tree>,
  doubt: { readonly reason: SourceProblem; readonly message: string },
): NotLocated {
  return notLocated(
    doubt.reason,
    `ResourceQuota ${wanted.namespace}/${wanted.name} is at ${locationText(located)}, but another repository may have it too: ${doubt.message}; settle that, or name the quota's repository with the annotation resizer.io/git-repository on the namespace`,
  );
}

function locationText({ location: { path, line }, tree }: LocatedQuota<SourceTree>): string {
  return tree.name === null ? `${path}:${line}` : `${path}:${line} of ${tree.name}`;
}

/** No candidate found the quota: lists every searched repository, and each remedy once. */
function nothingFound(wanted: Pick<WantedQuota, 'namespace' | 'name'>, misses: readonly Miss[]): NotLocated {
  // The quota may be in a repository that cannot be read.
  const unseen = misses.filter(({ reason }) => reason === 'RepositoryNotFound');
  if (unseen.length > 0) {
    return notLocated('RepositoryNotFound', unseen.map(({ message }) => message).join('; '));
  }
  if (misses.length === 0) {
    return notLocated('FileNotFound', `there is nowhere to look for ResourceQuota ${wanted.namespace}/${wanted.name}`);
  }
  const parts = misses.map(({ message }) => {
    const remedyAt = message.lastIndexOf('; ');
    return { searched: message.slice(0, remedyAt), remedy: message.slice(remedyAt + 2) };
  });
  const remedies = new Set(parts.map(({ remedy }) => remedy));
  const message = [...parts.map(({ searched }) => searched), ...remedies].join('; ');
  return notLocated(
    'FileNotFound',
    message,
    misses.flatMap(({ candidates = [] }) => candidates),
  );
}
