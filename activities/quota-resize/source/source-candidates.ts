/**
 * The source candidates of a quota in the order of the search: annotations, Argo CD and Flux, the configured path, and
 * every repository.
 */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import {
  type AppliedSource,
  candidateOfSource,
} from '../../../domain/quota-resize/git/locate/delivery/applied-source.ts';
import { configuredCandidates } from '../../../domain/quota-resize/git/locate/candidate/configured-candidates.ts';
import {
  GitPathError,
  parsePathTemplate,
  renderPath,
} from '../../../domain/quota-resize/git/locate/candidate/path-template.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { shownUrl } from '../../../domain/quota-resize/pull-request/shown-url.ts';
import type { SourceCandidate } from '../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { DeliveryNamespaces } from '../../../domain/quota-resize/settings/delivery-namespaces.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { branchOf } from './branch-of.ts';
import { readArgoCd, readFlux, readFluxHelm } from './applied-sources.ts';

export interface CandidateOptions {
  readonly kubernetes: Kubernetes;
  /** The repositories that may be changed; without any, Argo CD and Flux are not read. */
  readonly repositories: Pick<Repositories, 'host' | 'addressOf' | 'names' | 'nameOf'>;
  readonly pathTemplate: string;
  readonly deliveryNamespaces: DeliveryNamespaces;
}

/** The settings for source candidates. */
interface CandidateSettings {
  readonly gitPathTemplate: { readonly text: string };
  readonly kubernetes: { readonly deliveryNamespaces: DeliveryNamespaces };
}

/** The options for source candidates, from a process's configuration and its clients. */
export function candidateOptions(
  { gitPathTemplate, kubernetes: { deliveryNamespaces } }: CandidateSettings,
  connected: Pick<CandidateOptions, 'kubernetes' | 'repositories'>,
): CandidateOptions {
  return { ...connected, pathTemplate: gitPathTemplate.text, deliveryNamespaces };
}

export interface CandidateInput {
  readonly target: QuotaTarget;
  /** The quota from the cluster. */
  readonly quota: { readonly metadata?: V1ObjectMeta };
  readonly policy: ResizePolicy;
}

/** Fields from annotations, which apply to every candidate. */
type Narrowed = Pick<SourceCandidate, 'repository' | 'ref' | 'refBy' | 'field'>;

/**
 * The source candidates of the quota. Reads the objects of Argo CD and Flux that the quota's labels and annotations
 * name.
 *
 * @throws {ApiException} for errors of the API server other than missing kinds and objects.
 */
export async function readCandidates(
  options: CandidateOptions,
  input: CandidateInput,
): Promise<readonly SourceCandidate[]> {
  const { repositories } = options;
  const { git } = input.policy;
  const repository = git.repository === undefined ? undefined : repositories.nameOf(git.repository);
  if (repository === null && repositories.names.length > 0) {
    const learntFrom = annotationLabel(input, 'git-repository');
    const problem = notOnTheList(`${learntFrom} names ${git.repository}`, repositories.names);
    return [{ from: 'annotation', learntFrom, problem }];
  }
  const narrowed: Narrowed = {
    ...(repository === undefined || repository === null ? {} : { repository }),
    ...(git.ref === undefined ? {} : { ref: git.ref, refBy: 'annotation' }),
    ...(git.field === undefined ? {} : { field: git.field }),
  };
  if (git.path !== undefined) return [annotatedPath(options, input, git.path, narrowed)];
  const { candidates, notes } =
    repositories.names.length === 0 ? { candidates: [], notes: [] } : await deliveredFrom(options, input, narrowed);
  return [...candidates, ...configuredCandidates(options.pathTemplate, input.target, narrowed, notes)];
}

function annotatedPath(
  { pathTemplate }: CandidateOptions,
  input: CandidateInput,
  path: string,
  narrowed: Narrowed,
): SourceCandidate {
  const learntFrom = annotationLabel(input, 'git-path');
  if (path.includes('://')) {
    const problem = `${learntFrom}: ${shownUrl(path)} is an address, no path; name the repository with the annotation resizer.io/git-repository and write here a folder or a file from its root`;
    return { from: 'annotation', learntFrom, problem };
  }
  try {
    const rendered = renderPath(parsePathTemplate(path), input.target);
    // The template tells which cluster's and which namespace's the path is.
    return {
      from: 'annotation',
      learntFrom,
      ...narrowed,
      path: rendered,
      template: parsePathTemplate(pathTemplate).text,
    };
  } catch (error) {
    if (!(error instanceof GitPathError)) throw error;
    return { from: 'annotation', learntFrom, problem: `${learntFrom}: ${error.message}` };
  }
}

/** `the annotation resizer.io/git-path of namespace team-a` */
function annotationLabel({ target, policy }: CandidateInput, name: string): string {
  const on = policy.sources[name] === 'quota' ? `quota ${target.quota}` : `namespace ${target.namespace}`;
  return `the annotation resizer.io/${name} of ${on}`;
}

async function deliveredFrom(
  options: CandidateOptions,
  { quota }: CandidateInput,
  narrowed: Narrowed,
): Promise<{ readonly candidates: readonly SourceCandidate[]; readonly notes: readonly string[] }> {
  const object = quota.metadata ?? {};
  const all = [await readArgoCd(options, object), await readFlux(options, object), await readFluxHelm(options, object)];
  const candidates = all.flatMap(({ sources }) => {
    // A chart from elsewhere is ignored if another source of the object is a repository, which has its values.
    const inGit = sources.filter(({ otherwise }) => otherwise === undefined);
    return (inGit.length > 0 ? inGit : sources).map((source) => deliveredCandidate(options, source));
  });
  // A person's annotation about the repository overrides what a tool says.
  const matching = candidates.filter(
    (candidate) => narrowed.repository === undefined || candidate.repository === narrowed.repository,
  );
  return {
    candidates: matching.map((candidate) => narrowedTo(candidate, narrowed)),
    notes: all.flatMap(({ notes }) => notes),
  };
}

/** A branch that the tool applies as well is not named by the annotation alone. */
function narrowedTo(candidate: SourceCandidate, { refBy, ...narrowed }: Narrowed): SourceCandidate {
  const isOfTool = refBy === undefined || candidate.ref === narrowed.ref;
  return { ...candidate, ...narrowed, ...(isOfTool ? {} : { refBy }) };
}

function deliveredCandidate({ repositories }: CandidateOptions, applied: AppliedSource): SourceCandidate {
  const { from, learntFrom, url, revision, otherwise } = applied;
  const origin = { from, learntFrom };
  if (otherwise !== undefined || url === undefined) {
    const problem = `${learntFrom}: ${otherwise ?? 'it names no repository'}, which no pull request can change; name the place of its values with the annotations resizer.io/git-repository, resizer.io/git-path and resizer.io/git-field`;
    return { ...origin, problem };
  }
  const address = repositories.addressOf(url);
  const { host } = repositories;
  if (address === null || address.host !== host) {
    const problem = `${learntFrom} applies ${shownUrl(url)}, which is not on ${host}; name the quota's place with the annotation resizer.io/git-repository`;
    return { ...origin, problem };
  }
  const repository = repositories.nameOf(address.repository);
  if (repository === null) {
    return { ...origin, problem: notOnTheList(`${learntFrom} applies ${address.repository}`, repositories.names) };
  }
  const branch = branchOf(revision);
  if (branch.kind === 'none') {
    const problem = `${learntFrom} applies ${branch.what} of ${repository}, which no pull request can change; name the branch that it is made from with the annotation resizer.io/git-ref`;
    return { ...origin, repository, problem };
  }
  const candidate = candidateOfSource(applied);
  return {
    ...candidate,
    repository,
    ...(candidate.problem !== undefined || branch.name === undefined ? {} : { ref: branch.name }),
  };
}

function notOnTheList(what: string, names: readonly string[]): string {
  return `${what}, which is not among the repositories that may be changed (${names.join(', ')}); add it to GITHUB_REPOSITORIES, or name another one with the annotation resizer.io/git-repository`;
}
