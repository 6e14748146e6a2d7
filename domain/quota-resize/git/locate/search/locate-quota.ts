/** Locates one quota by one candidate and reads as few files as possible. */
import { belowTheCluster, notFound, ofOtherReleases, conclude, remedyFor } from './conclude.ts';
import { locateByField } from './locate-field.ts';
import type { TreeSnapshot, LocatedValue } from '../location/location.ts';
import { clusterDoubt } from './cluster-proof.ts';
import { looseMappings } from './loose-values.ts';
import { withDoubts } from './proof.ts';
import { searchIn, type Outcome } from './read-region.ts';
import { releaseProblem } from './release-object.ts';
import type { Resolution } from '../resolve/resolved.ts';
import { MAX_FILES, needs, type LocateAnswer, remedy, type Search, unlocated, type WantedQuota } from './search.ts';
import { AppliedFolders } from '../delivery/applied-folders.ts';
import { SharedWork } from './shared-work.ts';
import { stagesOf } from './stages.ts';
import { withUnread } from './unread-answer.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';
import { clusterOwnership } from './ownership.ts';
import { TreeReader } from '../tree/tree-reader.ts';

/**
 * The location of a quota in a tree, by one source candidate. When files are missing, the result names them; the caller
 * reads them and calls again. The result depends only on the texts.
 *
 * @param options.shared that of other lookups with the same texts.
 * @param options.applied what is known to be applied from the tree.
 */
export function locateQuota(
  tree: TreeSnapshot,
  wanted: WantedQuota,
  candidate: SourceCandidate,
  {
    shared = new SharedWork(tree),
    applied = new AppliedFolders(),
  }: { readonly shared?: SharedWork; readonly applied?: AppliedFolders } = {},
): LocateAnswer {
  if (candidate.problem !== undefined) {
    return unlocated('Unplaceable', candidate.problem);
  }
  const reader = new TreeReader(tree);
  const search: Search = { reader, wanted, candidate, shared, applied, path: candidate.path ?? '' };
  const ownership = candidate.from === 'annotation' ? clusterOwnership(search, search.path) : undefined;
  if (ownership?.kind === 'other') {
    return unlocated('Unplaceable', `${ownership.why}; ${remedy(search)}`);
  }
  const answer =
    candidate.field === undefined ? locateByFiles(search) : locateByField(search, candidate.field, locateByFiles);
  if (answer.kind === 'missingFiles') return answer;
  return answer.kind === 'located' ? provedOrDoubtful(search, answer) : withUnread(search, answer);
}

/** What is located, with the doubt about its cluster; files beside it may have to be read first. */
function provedOrDoubtful(search: Search, answer: Extract<LocateAnswer, { kind: 'located' }>): LocateAnswer {
  const { location } = answer;
  const doubt = location.notProved === undefined ? clusterDoubt(search, location) : undefined;
  if (search.reader.missing.size > 0) return needs(search.reader);
  return withUnread(search, { ...answer, location: withDoubts(location, [doubt]) });
}

function locateByFiles(search: Search): LocateAnswer {
  const { reader, path } = search;
  if (path !== '' && !reader.isFile(path) && !reader.isFolder(path)) {
    return notFound(search, 'there is no YAML file', []);
  }
  let last: Outcome | undefined;
  for (const files of stagesOf(search)) {
    if (files.length > MAX_FILES) {
      return notFound(
        search,
        `there are ${files.length} files to look at, more than the ${MAX_FILES} that are read`,
        [],
      );
    }
    const outcome = searchIn(search, files);
    if (outcome.kind === 'missingFiles') {
      return outcome;
    }
    const problem = releaseProblem(search, outcome.files);
    if (problem !== undefined) {
      return problem;
    }
    if (outcome.matches.length > 0) {
      return conclude(search, outcome);
    }
    last = outcome;
  }
  if (last === undefined || last.kind === 'missingFiles') {
    return notFound(search, 'there is no YAML file', []);
  }
  const loose = looseOf(search, last.files, valuesOfCharts(last.resolution));
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  if (loose?.kind === 'located') {
    const doubt = ofOtherReleases(search, loose.location) ?? belowTheCluster(search, loose.location);
    return doubt === undefined ? loose : unlocated('Unplaceable', `${doubt}; ${remedyFor(loose.location)}`);
  }
  return loose ?? conclude(search, last);
}

/** When the values files of a release are known, the last one that has such a mapping counts. */
function looseOf(search: Search, read: readonly string[], located: readonly LocatedValue[]): LocateAnswer | undefined {
  for (const file of search.candidate.valueFiles?.toReversed() ?? []) {
    const answer = looseMappings(search, [file], { located, read });
    if (answer !== undefined || search.reader.missing.size > 0) {
      return answer;
    }
  }
  return looseMappings(search, read, { located, read });
}

function valuesOfCharts({ quotas }: Resolution): readonly LocatedValue[] {
  return quotas.flatMap(({ layout, values }) =>
    layout === 'helm' ? [...values.values()].map(({ value }) => value) : [],
  );
}
