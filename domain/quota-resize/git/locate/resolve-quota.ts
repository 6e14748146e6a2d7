/**
 * The search for a quota over all of its source candidates: they are tried in order; the first that leads to the quota with
 * certainty wins, and whatever is not certain ends the search. Nothing is read here: whoever asks has the repositories.
 */
import type { SourceProblem } from '../../model/observation.ts';
import type { Candidate, QuotaLocation } from './location.ts';
import type { LocateAnswer, WantedQuota } from './search.ts';
import type { SourceCandidate } from './source-candidate.ts';

/** Where a candidate was followed. */
export interface SourceTree {
  /** For people: `acme/gitops at main`; null where there is only one, such as a checkout. */
  readonly name: string | null;
}

/** The quota in one tree. */
export interface LocatedQuota<Tree extends SourceTree> {
  readonly kind: 'located';
  readonly tree: Tree;
  readonly candidate: SourceCandidate;
  readonly location: QuotaLocation;
}

/** Why the search ends without a location that is certain. */
export interface NotLocated {
  readonly kind: 'blocked';
  readonly reason: SourceProblem;
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

/** A candidate that leads to nothing in one repository, for the message of a search that found nothing at all. */
interface Miss {
  readonly kind: 'miss';
  readonly reason: 'FileNotFound' | 'RepositoryNotFound';
  readonly message: string;
  /** It could not be looked at, so the quota may be there. */
  readonly isUnseen: boolean;
  readonly candidates?: readonly Candidate[];
}

/** The branch that the candidate names is not in this repository, and so nothing is applied from there. */
interface NoBranch {
  readonly kind: 'noBranch';
  readonly message: string;
}

/** What one repository answers to a candidate. */
export type RepositoryAnswer<Tree extends SourceTree> = LocatedQuota<Tree> | NotLocated | Miss | NoBranch;

/** The repositories have to be asked about a candidate first. */
export interface AskRepositories {
  readonly kind: 'ask';
  readonly candidate: SourceCandidate;
}

/**
 * The location of the quota, why there is none, or the candidate to ask the repositories about next; then it is called again
 * with their answers.
 *
 * @param answers those of all repositories to the first candidates, in their order.
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

/** What a tree answers to a candidate, with the tree's name in front of a problem. */
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

/** What a candidate came to: the quota, what ends the search, or every repository where it is not. */
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
  // Elsewhere than on the branch that is applied, a change would change nothing.
  const noBranch = answers.find((answer) => answer.kind === 'noBranch');
  return noBranch === undefined ? misses : notLocated('RepositoryNotFound', noBranch.message);
}

function inTwoRepositories<Tree extends SourceTree>(
  wanted: Pick<WantedQuota, 'namespace' | 'name'>,
  ...located: readonly LocatedQuota<Tree>[]
): NotLocated {
  const locations = located.map((one) => locationText(one)).join(', ');
  return notLocated(
    'FoundTwice',
    `ResourceQuota ${wanted.namespace}/${wanted.name} stands in two repositories: ${locations}; keep one, or name its repository with the annotation resizer.io/git-repository on the namespace`,
  );
}

/** A repository that cannot be seen, or that may have the quota as well, may be the one that is applied. */
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

/** Every repository where it is not, with what would settle it once. */
function nothingFound(wanted: Pick<WantedQuota, 'namespace' | 'name'>, misses: readonly Miss[]): NotLocated {
  // A repository that cannot be seen may be the one.
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
