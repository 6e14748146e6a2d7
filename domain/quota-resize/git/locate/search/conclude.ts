/** The result of a search in the files that were read: the location of the quota, or why there is none. */
import { compareQuantities, isQuantity, parseQuantity } from '../../../../kernel/quantity.ts';
import { candidateOf, obstacleOf, locationOf, twiceMessage } from '../location/describe-location.ts';
import { limitsInGit } from '../location/edit-location.ts';
import type { SourceProblem } from '../../../model/observation.ts';
import type { Candidate, MissingFiles, QuotaLocation, Unlocated } from '../location/location.ts';
import { isWithin, mentions, wordsOf } from '../tree/paths.ts';
import { writtenKey } from '../../yaml/other-name.ts';
import { unreadText } from '../tree/unread.ts';
import { doubtOf, notInForce, withDoubts } from './proof.ts';
import type { Outcome } from './read-region.ts';
import type { Resolution, ResolvedQuota } from '../resolve/resolved.ts';
import {
  identifyingLimits,
  type LocateAnswer,
  remedy,
  type Search,
  unlocated,
  type WantedQuota,
  where,
} from './search.ts';

/** How many other quotas a message lists: enough to spot a typo while the message stays short. */
const OTHERS_SHOWN = 5;

export function conclude(search: Search, { matches, resolution, files }: Exclude<Outcome, MissingFiles>): LocateAnswer {
  const { wanted, candidate } = search;
  const [match] = matches;
  if (matches.length > 1) {
    const candidates = matches.map(candidateOf);
    return unlocated(
      'FoundTwice',
      twiceMessage(
        candidates,
        matches.map(({ quota }) => quota.paths[0] ?? quota.path),
      ),
      candidates,
    );
  }
  if (match !== undefined) {
    if (match.ownership.kind === 'other') {
      return unlocated('Unplaceable', `${match.ownership.why}; ${remedy(search)}`, [candidateOf(match)]);
    }
    const located = locationOf(match.quota, match.identity, candidate.learntFrom);
    const location = withDoubts(located, [
      doubtOf(match.ownership),
      located.layout === 'helm' ? notInForce(wanted, located) : undefined,
      ...wanted.resources.map((resource) => doubtAbout(match.quota, resource, wanted)),
    ]);
    const obstacle =
      obstacleOf(withoutName(match.quota)) ??
      unreadable(match.quota, wanted) ??
      ofOtherReleases(search, location) ??
      (match.named ? undefined : belowTheCluster(search, location));
    return obstacle === undefined
      ? { kind: 'located', location }
      : unlocated(obstacleReason(match.quota), `${obstacle}; ${remedyFor(match.quota)}`, [candidateOf(match)]);
  }
  return nothing(search, resolution, files);
}

function doubtAbout({ values }: ResolvedQuota, resource: string, { resources }: WantedQuota): string | undefined {
  return values.get(writtenKey(resource, resources, (key) => values.has(key)) ?? resource)?.doubt;
}

function obstacleReason(quota: ResolvedQuota): SourceProblem {
  return withoutName(quota).obstacles[0]?.reason ?? 'Unplaceable';
}

/** The cluster's name for the quota is known here, so it does not matter that the chart computes the name. */
function withoutName(quota: ResolvedQuota): ResolvedQuota {
  return { ...quota, obstacles: quota.obstacles.filter(({ message }) => !message.startsWith('computes the name')) };
}

function unreadable({ unreadable: keys }: ResolvedQuota, { resources }: WantedQuota): string | undefined {
  const problem = keys.find(({ key }) => resources.includes(key))?.note;
  return problem === undefined ? undefined : `${problem.path}:${problem.line}: ${problem.message}`;
}

/**
 * Reports a value in a shared values file: of a release's values files only the last one certainly belongs to this
 * release alone.
 */
export function ofOtherReleases({ wanted, candidate, path }: Search, location: QuotaLocation): string | undefined {
  const located = wanted.resources.flatMap((resource) => location.values[resource] ?? []);
  if (candidate.release !== undefined) {
    const { name, path: own } = candidate.release;
    const foreign = located.find((value) => !isWithin(value.path, own) && !mentions(value.path, wanted.namespace));
    return foreign === undefined
      ? undefined
      : `${foreign.path}:${foreign.line} may hold values of other releases as well: write the limit into spec.values of the HelmRelease ${name}`;
  }
  if (candidate.valueFiles === undefined) {
    return undefined;
  }
  const files = [path === '' ? 'values.yaml' : `${path}/values.yaml`, ...candidate.valueFiles];
  const last = files.at(-1) ?? '';
  const shared = located.find(
    (value) => value.path !== last && files.includes(value.path) && !mentions(value.path, wanted.namespace),
  );
  return shared === undefined
    ? undefined
    : `${shared.path}:${shared.line} may hold values of other releases as well: write the limit into ${last}`;
}

/**
 * Reports a limit that is lower than the cluster's, in a file that was only found by scanning and that no folder name
 * assigns to this cluster: it may belong to another cluster.
 */
export function belowTheCluster({ wanted, candidate }: Search, location: QuotaLocation): string | undefined {
  const { resources } = wanted;
  const current = identifyingLimits(wanted);
  if (candidate.from !== 'scan' || current === undefined) {
    return undefined;
  }
  const inGit = limitsInGit(location, resources);
  const below = resources.find((resource) => {
    const [written, inForce] = [inGit[resource], current[resource]];
    return (
      written !== undefined &&
      inForce !== undefined &&
      isQuantity(inForce) &&
      compareQuantities(parseQuantity(written), parseQuantity(inForce)) < 0
    );
  });
  return below === undefined
    ? undefined
    : `${location.path}:${location.line} says ${below}: ${inGit[below] ?? ''}, less than the ${current[below] ?? ''} of cluster ${wanted.cluster}, so it may be another cluster's`;
}

export function remedyFor({ layout }: Pick<QuotaLocation, 'layout'>): string {
  return layout === 'helm'
    ? 'say where the value is with the annotations resizer.io/git-path (the values file) and resizer.io/git-field, such as namespaceQuotas["requests.cpu"]'
    : 'write the value out where it is used, or name another file with the annotation resizer.io/git-path';
}

function nothing(search: Search, { quotas, notes }: Resolution, files: readonly string[]): Unlocated {
  const { wanted, reader } = search;
  const about = notes.filter(
    ({ name, namespace, path }) =>
      (name === undefined || name === wanted.name) &&
      (namespace === undefined ? isOwnLocation(search, path) : namespace === wanted.namespace),
  );
  const broken = about.filter(({ reason }) => reason === 'NotYaml');
  const others = about.filter(({ reason }) => reason !== 'NotYaml');
  // A note about exactly this quota is more useful than one about a file that may contain it.
  const own = others.find(({ name, namespace }) => name === wanted.name && namespace === wanted.namespace);
  const other = own ?? others[0];
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  if (broken.length > 0 && own === undefined) {
    const locations = broken.map(({ path, line, message }) => `${path}:${line}: ${message}`).join('; ');
    return unlocated('NotYaml', `no readable ${label}: ${locations}`);
  }
  if (other !== undefined) {
    const reason = other.reason ?? 'Unplaceable';
    return unlocated(reason, `${label}: ${other.path}:${other.line}: ${other.message}; ${remedy(search)}`);
  }
  const binary = files.filter((path) => reader.tree.texts.get(path) === null);
  const ownBinary = binary.filter((path) => isOwnLocation(search, path));
  if (ownBinary.length > 0) {
    return unlocated('NotYaml', `not UTF-8, so not YAML: ${ownBinary.join(', ')}`);
  }
  const unread = new Set([
    ...binary,
    ...reader.unread.keys(),
    ...notes.flatMap(({ reason, path }) => (reason === 'NotYaml' ? [path] : [])),
  ]).size;
  const shown = quotas.slice(0, OTHERS_SHOWN);
  const seen = shown.map(({ namespace, name, path, line }) => `${namespace ?? '?'}/${name || '?'} in ${path}:${line}`);
  const candidates = shown.map(({ namespace, name, path, line }) => ({
    path,
    line,
    namespace: namespace ?? null,
    name,
  }));
  return notFound(
    search,
    `no file of the ${files.length} there has it${seen.length === 0 ? '' : `, only ${seen.join(', ')}`}${unread === 0 ? '' : ` (${unread} of them cannot be read${reader.unread.size === 0 ? '' : `: ${unreadText(reader.unread)}`})`}`,
    candidates,
  );
}

/**
 * Whether the quota is expected in this file: the candidate names a path, or a folder or the file has the namespace's
 * name.
 */
function isOwnLocation({ path, wanted }: Search, file: string): boolean {
  return path !== '' || wordsOf(file).includes(wanted.namespace);
}

export function notFound(search: Search, why: string, candidates: readonly Candidate[]): Unlocated {
  const { wanted } = search;
  return unlocated(
    'FileNotFound',
    `no file for ResourceQuota ${wanted.namespace}/${wanted.name}, searched ${where(search)}: ${why}; ${remedy(search)}`,
    candidates,
  );
}
