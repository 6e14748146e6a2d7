/** Finding one quota by one hint, with as few files read as the answer takes. */
import { compareQuantities, isQuantity, parseQuantity } from '../../../kernel/quantity.ts';
import { isChartFile, templateOf } from './chart.ts';
import type { Delivery } from './delivery.ts';
import { limitsInGit } from './edit-location.ts';
import {
  clusterFit,
  foldersOfNamespace,
  isGeneral,
  type KnownNamespace,
  namespaceByFolder,
  templatesOf,
} from './identify.ts';
import type { SourceHint } from './source-candidate.ts';
import { isKustomizationFile, kustomizationFileIn } from './kustomization.ts';
import { fileNameOf, folderOf, isManifestFile, isWithin, mentions, wordsOf } from './paths.ts';
import type { Candidate, KnownTree, NeedsFiles, PlacedValue, QuotaPlace, Unplaced } from './location.ts';
import { placeByField } from './locate-field.ts';
import { looseMappings } from './loose-values.ts';
import { Renderer } from './render.ts';
import { type Region, resolve } from './resolve.ts';
import type { Resolution, ResolvedQuota } from './resolved.ts';
import { candidateOf, obstacleOf, placeOf, preferred, twiceMessage } from './scan.ts';
import { valuesFilesIn } from './helm.ts';
import {
  isCurrent,
  MAX_FILES,
  needs,
  type PlaceAnswer,
  remedy,
  type Search,
  unplaced,
  type WantedQuota,
  where,
} from './search.ts';
import { TreeReader } from './tree-reader.ts';

/** With so few kustomizations in the tree all of them are read, to see who else uses a base. */
const FEW_KUSTOMIZATIONS = 30;
/** How many quotas that do not match are named: enough to see a typo, and a message stays short. */
const OTHERS_SHOWN = 5;

/**
 * The place of a quota in a tree, as a hint says to look for it. It asks for the files that it needs; ask again when they are
 * there. The same texts give the same answer.
 */
export function placeQuota(tree: KnownTree, wanted: WantedQuota, hint: SourceHint): PlaceAnswer {
  if (hint.problem !== undefined) {
    return unplaced('Unplaceable', hint.problem);
  }
  const reader = new TreeReader(tree);
  const search: Search = { reader, wanted, hint, path: hint.path ?? '' };
  const answer = hint.field === undefined ? placeByFiles(search) : placeByField(search, hint.field);
  if (answer.kind !== 'needs') {
    return answer;
  }
  if (reader.asked > MAX_FILES) {
    return unplaced(
      'Unplaceable',
      `ResourceQuota ${wanted.namespace}/${wanted.name} would take more than ${MAX_FILES} files to find below ${where(search)}: ${remedy(search)}`,
    );
  }
  return answer;
}

function placeByFiles(search: Search): PlaceAnswer {
  const { reader, path } = search;
  if (path !== '' && !reader.isFile(path) && !reader.isFolder(path)) {
    return notFound(search, 'there is no YAML file', []);
  }
  const stages = stagesOf(search);
  let last: Outcome | undefined;
  for (const files of stages) {
    if (files.length > MAX_FILES) {
      return notFound(
        search,
        `there are ${files.length} files to look at, more than the ${MAX_FILES} that are read`,
        [],
      );
    }
    const outcome = lookIn(search, files);
    if (outcome.kind === 'needs' || outcome.matches.length > 0) {
      return outcome.kind === 'needs' ? outcome : settle(search, outcome);
    }
    last = outcome;
  }
  if (last === undefined || last.kind === 'needs') {
    return notFound(search, 'there is no YAML file', []);
  }
  const loose = looseOf(search, last.files, valuesOfCharts(last.resolution));
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  if (loose?.kind === 'placed') {
    const doubt = ofOtherReleases(search, loose.place) ?? belowTheCluster(search, loose.place);
    return doubt === undefined ? loose : unplaced('Unplaceable', `${doubt}; ${settling(loose.place)}`);
  }
  return loose ?? settle(search, last);
}

/** Where the values files of a release are known, the weightiest that has such a mapping counts. */
function looseOf(search: Search, files: readonly string[], taken: readonly PlacedValue[]): PlaceAnswer | undefined {
  for (const file of search.hint.valueFiles?.toReversed() ?? []) {
    const answer = looseMappings(search, [file], taken);
    if (answer !== undefined || search.reader.missing.size > 0) {
      return answer;
    }
  }
  return looseMappings(search, files, taken);
}

function valuesOfCharts({ quotas }: Resolution): readonly PlacedValue[] {
  return quotas.flatMap(({ layout, values }) =>
    layout === 'helm' ? [...values.values()].map(({ value }) => value) : [],
  );
}

/** What to look at, one after the other until the quota is found. */
function stagesOf({ reader, path, wanted }: Search): readonly (readonly string[])[] {
  if (reader.isFile(path)) {
    return [[path]];
  }
  const below = reader.tree.paths.filter((file) => isWithin(file, path) && isRelevant(file));
  if (below.length <= MAX_FILES) {
    return below.length === 0 ? [] : [below];
  }
  const named = below.filter((file) => mentions(file, wanted.namespace));
  const exactly = named.filter((file) => wordsOf(file).includes(wanted.namespace));
  const own = exactly.length > 0 ? exactly : named;
  const ofCluster = own.filter((file) => mentions(file, wanted.cluster));
  const narrow = own.length > MAX_FILES && ofCluster.length > 0 ? ofCluster : own;
  const aboutQuotas = below.filter((file) => /quota/i.test(file) && !own.includes(file));
  return [narrow, aboutQuotas].filter((files) => files.length > 0);
}

/** YAML, kustomizations, and JSON that is not known to be something else. */
function isRelevant(path: string): boolean {
  const isJson = /\.json$/i.test(path);
  return (
    isKustomizationFile(path) || (isManifestFile(path) && (!isJson || /quota|namespace|manifest|\bns\b/i.test(path)))
  );
}

interface Match {
  readonly quota: ResolvedQuota;
  readonly known: KnownNamespace;
  readonly named: boolean;
}

type Outcome =
  | NeedsFiles
  | {
      readonly kind: 'looked';
      readonly files: readonly string[];
      readonly resolution: Resolution;
      readonly matches: readonly Match[];
    };

/** The quotas that the files make, and those among them that are the wanted one. */
function lookIn(search: Search, files: readonly string[]): Outcome {
  const { reader } = search;
  const charts = new Set(files.flatMap((path) => chartsAround(reader, path)));
  const chartFiles = reader.tree.paths.filter((path) =>
    [...charts].some(
      (chart) => isWithin(path, chart) && (templateOf(reader, path) === chart || /values[^/]*\.ya?ml$/i.test(path)),
    ),
  );
  const all = [...new Set([...files, ...chartFiles])];
  for (const path of all) {
    reader.text(path);
  }
  const kustomizations = kustomizationsFor(search, all);
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  const resolution = resolve(reader, {
    kustomizations,
    manifests: all.filter(isManifestFile),
    values: valuesFilesIn(reader, all),
    deliveries: deliveriesOf(search),
    ...(search.path === '' || kustomizations.length === 0 ? {} : { root: rootOf(search) }),
    ...sharedOutside(search, kustomizations),
  });
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  return { kind: 'looked', files: all, resolution, matches: matchesOf(search, resolution.quotas) };
}

/** The chart at the hinted path as it is installed, where that is known. */
function deliveriesOf({ hint, path }: Search): readonly Delivery[] {
  const { said, valueFiles, namespace, from } = hint;
  return valueFiles === undefined
    ? []
    : [
        {
          said,
          path,
          line: 1,
          folder: path,
          ...(namespace === undefined ? {} : { namespace }),
          overrides: from === 'flux' && namespace !== undefined,
          valueFiles,
          one: true,
        },
      ];
}

function sharedOutside(search: Search, kustomizations: readonly string[]): Pick<Region, 'sharedOutside'> {
  const { reader, path } = search;
  const read = new Set(kustomizations);
  const unread = kustomizationsOfTree(reader).filter((file) => !read.has(file));
  if (unread.length === 0) {
    return {};
  }
  const root = rootOf(search);
  return { sharedOutside: path === '' || unread.some((file) => isWithin(file, root)) ? 'overlay' : 'root' };
}

function rootOf({ reader, path }: Search): string {
  return reader.isFile(path) ? folderOf(path) : path;
}

function chartsAround(reader: TreeReader, path: string): readonly string[] {
  const chart = isChartFile(path) ? folderOf(path) : templateOf(reader, path);
  return chart === undefined ? [] : [chart];
}

const kustomizationsByPaths = new WeakMap<readonly string[], readonly string[]>();

function kustomizationsOfTree({ tree }: TreeReader): readonly string[] {
  const known = kustomizationsByPaths.get(tree.paths) ?? tree.paths.filter(isKustomizationFile);
  kustomizationsByPaths.set(tree.paths, known);
  return known;
}

/**
 * The kustomizations that bear on the files: those among them, those of their folders, those above that change what is below,
 * and, where the tree has few, all others, to see who shares a base.
 */
function kustomizationsFor({ reader, path }: Search, files: readonly string[]): readonly string[] {
  const inTree = kustomizationsOfTree(reader);
  if (inTree.length === 0) {
    return [];
  }
  const near = new Set(files.filter(isKustomizationFile));
  for (const folder of new Set(files.map(folderOf))) {
    const file = kustomizationFileIn(reader, folder);
    if (file !== undefined) {
      near.add(file);
    }
  }
  for (let folder = reader.isFile(path) ? folderOf(path) : path; folder !== ''; ) {
    folder = folderOf(folder);
    const file = kustomizationFileIn(reader, folder);
    if (file !== undefined && changesWhatIsBelow(reader, file)) {
      near.add(file);
    }
  }
  const all = near.size > 0 && inTree.length <= FEW_KUSTOMIZATIONS ? inTree : [...near];
  for (const file of all) {
    reader.text(file);
  }
  return all;
}

/** Whether a kustomization does more than pass the ones below it on. */
function changesWhatIsBelow(reader: TreeReader, path: string): boolean {
  const kustomization = new Renderer(reader).kustomization(path);
  if (kustomization === undefined || !('resources' in kustomization)) {
    return kustomization !== undefined;
  }
  const { namespace, prefix, suffix, patches, components, opaque, resources } = kustomization;
  return (
    namespace !== undefined ||
    prefix !== '' ||
    suffix !== '' ||
    patches.length + components.length + opaque.length > 0 ||
    resources.some((resource) => /\.ya?ml$/i.test(fileNameOf(resource)))
  );
}

function matchesOf(search: Search, quotas: readonly ResolvedQuota[]): readonly Match[] {
  const { reader, wanted, hint, path } = search;
  const asNamespace = foldersOfNamespace(quotas, wanted.cluster);
  const named = quotas.filter(({ name }) => name === wanted.name);
  // A name that the chart computes may be the wanted one, where no other is.
  const likely = named.length > 0 ? named : quotas.filter((quota) => mayBeNamed(search, quota));
  const templates = templatesOf(hint);
  const matches = likely.flatMap((quota): readonly Match[] => {
    const known = knownNamespace(search, quota);
    const options = { templates, below: path, asNamespace, namespace: known?.namespace };
    const fit = clusterFit(reader, wanted.cluster, quota.paths, options);
    const trusted = hint.path !== undefined && reader.isFile(path);
    return known?.namespace !== wanted.namespace || (fit === 'other' && !trusted)
      ? []
      : [
          {
            quota: { ...withoutRivals(search, asOwn(search, quota)), name: wanted.name },
            known,
            named: fit === 'named',
          },
        ];
  });
  return preferred(matches);
}

/** Whether a name that a chart computes may be the wanted one: by its text, and by who delivers it or by the limits in force. */
function mayBeNamed({ wanted, hint }: Search, { name, namePattern, values }: ResolvedQuota): boolean {
  if (name !== '' || namePattern?.test(wanted.name) !== true) {
    return false;
  }
  const { current } = wanted;
  const inForce =
    current !== undefined &&
    wanted.resources.every((resource) => isCurrent(values.get(resource)?.value.text ?? '', current[resource]));
  return inForce || hint.from === 'argocd' || hint.from === 'flux';
}

/** A chart that takes its namespace from its release may be installed for others, who would get the same values. */
function asOwn({ wanted, hint, path }: Search, quota: ResolvedQuota): ResolvedQuota {
  const own =
    quota.layout !== 'helm' ||
    (quota.namespace !== undefined && hint.namespace === undefined) ||
    hint.from === 'annotation' ||
    hint.valueFiles?.includes(quota.paths[0] ?? '') === true ||
    [path, ...quota.paths].some((one) => mentions(one, wanted.namespace));
  return own
    ? quota
    : {
        ...quota,
        obstacles: [
          ...quota.obstacles,
          {
            path: quota.path,
            line: quota.line,
            message: 'is a template that other namespaces may use with the same values',
          },
        ],
      };
}

/**
 * The limits in force tell which values file counts: that of the chart where they are its own, and no other file has them. A
 * change in the wrong one would change nothing, or another release.
 */
function withoutRivals({ wanted }: Search, quota: ResolvedQuota): ResolvedQuota {
  const { rivals = [], ...rest } = quota;
  const { current = {}, resources } = wanted;
  const isOwn =
    resources.every((resource) => isCurrent(quota.values.get(resource)?.value.text ?? '', current[resource])) &&
    !rivals.some(({ key, text }) => isCurrent(text, current[key]));
  return isOwn ? rest : quota;
}

/** The namespace that a quota names, that it is applied into, or that it is filed under. */
function knownNamespace(search: Search, quota: ResolvedQuota): KnownNamespace | undefined {
  const { wanted, hint } = search;
  const by = `known from ${hint.said}`;
  // Others than those of the path are there to see who shares a base.
  const applied = isWithin(rootOfQuota(search, quota), search.path) ? hint.namespace : undefined;
  if (hint.from === 'flux' && applied !== undefined) {
    return { namespace: applied, by };
  }
  if (quota.namespace !== undefined) {
    return { namespace: quota.namespace, by: '' };
  }
  if (applied !== undefined) {
    return { namespace: applied, by };
  }
  return isTold(search, quota)
    ? { namespace: wanted.namespace, by }
    : namespaceByFolder(new Set([wanted.namespace]), quota.paths, { cluster: wanted.cluster, quota: wanted.name });
}

/** What is applied to make a quota; for a chart with given values files it is its template. */
function rootOfQuota({ hint }: Search, { paths }: ResolvedQuota): string {
  const [root = ''] = paths;
  return hint.valueFiles?.includes(root) === true ? (paths.at(-1) ?? root) : root;
}

/**
 * Who names a path for this namespace, or applies the quota from there, says that what is there is the namespace's; but not
 * what lies further down in a folder with a name of its own.
 */
function isTold(search: Search, quota: ResolvedQuota): boolean {
  const { reader, wanted, hint, path } = search;
  const named = wordsOf(path).some((word) => word !== wanted.cluster && mentions(word, wanted.namespace));
  const told = hint.path !== undefined && ['annotation', 'argocd', 'flux'].includes(hint.from);
  const root = rootOfQuota(search, quota);
  if (!(told || named) || reader.isFile(path) || path === '') {
    return told || named;
  }
  const words = wordsOf(isWithin(root, path) ? root.slice(path.length + 1) : root);
  const general = (word: string): boolean =>
    word === wanted.name || isGeneral(word, wanted.cluster) || mentions(word, wanted.namespace);
  return words.slice(0, -1).every(general) && (named || general(words.at(-1) ?? ''));
}

function settle(search: Search, { matches, resolution, files }: Exclude<Outcome, NeedsFiles>): PlaceAnswer {
  const { wanted, hint } = search;
  const [match] = matches;
  if (matches.length > 1) {
    const candidates = matches.map(candidateOf);
    return unplaced(
      'FoundTwice',
      twiceMessage(
        candidates,
        matches.map(({ quota }) => quota.paths[0] ?? quota.path),
      ),
      candidates,
    );
  }
  if (match !== undefined) {
    const place = placeOf(match.quota, match.known, hint.said);
    const obstacle =
      obstacleOf(withoutName(match.quota)) ??
      unreadable(match.quota, wanted) ??
      ofOtherReleases(search, place) ??
      (match.named ? undefined : belowTheCluster(search, place));
    return obstacle === undefined
      ? { kind: 'placed', place }
      : unplaced('Unplaceable', `${obstacle}; ${settling(match.quota)}`, [candidateOf(match)]);
  }
  return nothing(search, resolution, files);
}

/** Here the name is known, so that a chart that computes it is no obstacle. */
function withoutName(quota: ResolvedQuota): ResolvedQuota {
  return { ...quota, obstacles: quota.obstacles.filter(({ message }) => !message.startsWith('computes the name')) };
}

function unreadable({ unreadable: keys }: ResolvedQuota, { resources }: WantedQuota): string | undefined {
  const problem = keys.find(({ key }) => resources.includes(key))?.note;
  return problem === undefined ? undefined : `${problem.path}:${problem.line}: ${problem.message}`;
}

/** Of a release's values files only the last one is surely its own; one before it may be given to others too. */
function ofOtherReleases({ wanted, hint, path }: Search, place: QuotaPlace): string | undefined {
  if (hint.valueFiles === undefined) {
    return undefined;
  }
  const files = [path === '' ? 'values.yaml' : `${path}/values.yaml`, ...hint.valueFiles];
  const last = files.at(-1) ?? '';
  const shared = wanted.resources
    .flatMap((resource) => place.values[resource] ?? [])
    .find((value) => value.path !== last && files.includes(value.path) && !mentions(value.path, wanted.namespace));
  return shared === undefined
    ? undefined
    : `${shared.path}:${shared.line} may hold values of other releases as well: write the limit into ${last}`;
}

/** Less than the cluster has, in a file that nobody named and no folder gives to the cluster: another cluster's, perhaps. */
function belowTheCluster({ wanted, hint }: Search, place: QuotaPlace): string | undefined {
  const { current, resources } = wanted;
  if (hint.from !== 'scan' || current === undefined) {
    return undefined;
  }
  const inGit = limitsInGit(place, resources);
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
    : `${place.path}:${place.line} says ${below}: ${inGit[below] ?? ''}, less than the ${current[below] ?? ''} of cluster ${wanted.cluster}, so it may be another cluster's`;
}

function settling({ layout }: Pick<QuotaPlace, 'layout'>): string {
  return layout === 'helm'
    ? 'say where the value is with the annotations resizer.io/git-path (the values file) and resizer.io/git-field, such as namespaceQuotas["requests.cpu"]'
    : 'write the value out where it is used, or name another file with the annotation resizer.io/git-path';
}

function nothing(search: Search, { quotas, notes }: Resolution, files: readonly string[]): Unplaced {
  const { wanted, reader } = search;
  const about = notes.filter(
    ({ name, namespace, path }) =>
      (name === undefined || name === wanted.name) &&
      (namespace === undefined ? isOwnPlace(search, path) : namespace === wanted.namespace),
  );
  const broken = about.filter(({ reason }) => reason === 'NotYaml');
  const others = about.filter(({ reason }) => reason !== 'NotYaml');
  // What is known of this very quota goes before files that may have it.
  const own = others.find(({ name, namespace }) => name === wanted.name && namespace === wanted.namespace);
  const other = own ?? others[0];
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  if (broken.length > 0 && own === undefined) {
    const places = broken.map(({ path, line, message }) => `${path}:${line}: ${message}`).join('; ');
    return unplaced('NotYaml', `no readable ${label}: ${places}`);
  }
  if (other !== undefined) {
    return unplaced('Unplaceable', `${label}: ${other.path}:${other.line}: ${other.message}; ${remedy(search)}`);
  }
  const binary = files.filter((path) => reader.tree.texts.get(path) === null);
  const ownBinary = binary.filter((path) => isOwnPlace(search, path));
  if (ownBinary.length > 0) {
    return unplaced('NotYaml', `not UTF-8, so not YAML: ${ownBinary.join(', ')}`);
  }
  const unread = new Set([...binary, ...notes.flatMap(({ reason, path }) => (reason === 'NotYaml' ? [path] : []))])
    .size;
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
    `no file of the ${files.length} there has it${seen.length === 0 ? '' : `, only ${seen.join(', ')}`}${unread === 0 ? '' : ` (${unread} of them cannot be read)`}`,
    candidates,
  );
}

/** Where the quota would be: below the path that was named for it, or in a folder or a file that is called like the namespace. */
function isOwnPlace({ path, wanted }: Search, file: string): boolean {
  return path !== '' || wordsOf(file).includes(wanted.namespace);
}

function notFound(search: Search, why: string, candidates: readonly Candidate[]): Unplaced {
  const { wanted } = search;
  return unplaced(
    'FileNotFound',
    `no file for ResourceQuota ${wanted.namespace}/${wanted.name}, searched ${where(search)}: ${why}; ${remedy(search)}`,
    candidates,
  );
}
