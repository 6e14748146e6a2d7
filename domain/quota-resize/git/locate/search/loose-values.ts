/**
 * Searches values files of charts that are missing or cannot be evaluated: for a mapping that has only keys of
 * spec.hard, such as `namespaceQuotas: {requests.cpu: "2"}`, and exactly one of which fits.
 */
import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { isQuantity } from '../../../../kernel/quantity.ts';
import { formatField, type Pointer } from '../../yaml/field-path.ts';
import { looksLikeValues, templateOf } from '../helm/chart.ts';
import { leavesAt, nodeAt, type ManifestDocument, resolved, textAt } from '../../yaml/documents.ts';
import { isOfOtherCluster } from './identify.ts';
import { isWithin, mentions } from '../tree/paths.ts';
import type { LocatedValue } from '../location/location.ts';
import { doubtOf, notInForce, withDoubts } from './proof.ts';
import { isReleaseObject } from './release-object.ts';
import { isNamedFor, valueOwnership } from './ownership.ts';
import { identifyingLimits, isCurrent, type LocateAnswer, type Search, unlocated } from './search.ts';
import type { ReleaseObject } from '../candidate/source-candidate.ts';
import { isQuotaKey } from '../../../model/quota-key.ts';
import { isKeyedFor, otherMapping } from './values-keys.ts';
import { type DocumentValues, placedInValues } from './values-document.ts';

/**
 * The charts whose templates mention a ResourceQuota and so define what their values mean, even if they render no
 * quota.
 */
function chartsWithQuotas({ reader }: Search, files: readonly string[]): readonly string[] {
  const charts = files.flatMap((file) =>
    reader.text(file)?.includes('ResourceQuota') === true ? (templateOf(reader, file) ?? []) : [],
  );
  return [...new Set(charts)];
}

interface Mapping extends DocumentValues {
  readonly pointer: Pointer;
}

/**
 * Undefined when no values file has such a mapping.
 *
 * @param options.located the values that quotas of charts already use.
 * @param options.read all files that were read so far; charts among them are known.
 */
export function looseMappings(
  search: Search,
  files: readonly string[],
  { located, read }: { readonly located: readonly LocatedValue[]; readonly read: readonly string[] },
): LocateAnswer | undefined {
  const isTaken = (path: string, line: number): boolean =>
    located.some((value) => value.path === path && value.line === line);
  const { reader, wanted, candidate, path } = search;
  const charts = chartsWithQuotas(search, read);
  if (candidate.valueFiles !== undefined && charts.includes(path)) {
    return undefined;
  }
  const all = files
    .filter(
      (file) => file === path || !charts.some((chart) => (chart === '' ? !file.includes('/') : isWithin(file, chart))),
    )
    .filter(
      (file) =>
        (looksLikeValues(file) ||
          file === path ||
          candidate.valueFiles?.includes(file) === true ||
          (candidate.release !== undefined && isWithin(file, candidate.release.path))) &&
        !isOfOtherCluster(search, file),
    )
    .flatMap((file) => reader.documents(file))
    .flatMap((document) => mappingsIn(document, candidate.release))
    .filter((mapping) => isOfQuota(search, mapping))
    .filter(({ document, leaves }) => !leaves.some(({ line }) => isTaken(document.path, line)))
    .filter(({ leaves }) => wanted.resources.every((resource) => leaves.some(({ key }) => key === resource)));
  if (all.length === 0 || reader.missing.size > 0) {
    return undefined;
  }
  const own = all.filter(({ document, pointer }) => isOf(wanted.namespace, document, pointer) || isNamed(search));
  const [mapping, second] = fitting(search, own);
  if (mapping === undefined || second !== undefined) {
    const candidates = all.map(({ document, line }) => ({ path: document.path, line, namespace: null, name: null }));
    const locations = all
      .map(({ document, line, pointer }) => `${document.path}:${line} (${formatField(pointer)})`)
      .join(', ');
    return unlocated(
      all.length > 1 ? 'FoundTwice' : 'Unplaceable',
      `ResourceQuota ${wanted.namespace}/${wanted.name} may take its limits from ${locations}: name the values file with resizer.io/git-path and the value with resizer.io/git-field, such as ${formatField([...(all[0]?.pointer ?? []), wanted.resources[0] ?? 'pods'])}`,
      candidates,
    );
  }
  const field = formatField(mapping.pointer);
  const answer = placedInValues(search, mapping, `at the field \`${field}\`, the only one with the quota's keys,`);
  const { document, pointer } = mapping;
  const doubts = [
    ['annotation', 'scan'].includes(candidate.from) ? unnamedDoubt(search, document, pointer) : undefined,
    ['annotation', 'scan'].includes(candidate.from) ? doubtOf(valueOwnership(search, document, pointer)) : undefined,
    notInForce(wanted, answer.location),
  ];
  return { ...answer, location: withDoubts(answer.location, doubts) };
}

/** A mapping without its chart is the quota's by its place alone; a path that a tenant named is no place. */
function unnamedDoubt(search: Search, { path }: ManifestDocument, pointer: Pointer): string | undefined {
  const { wanted, candidate } = search;
  const { namespace, name } = wanted;
  const other = otherMapping(wanted, pointer);
  if (other !== undefined) return `\`${path}\` has these values below \`${other}\`, and not for the quota ${name}`;
  return isKeyedFor(search, pointer) || isNamedFor(path, wanted)
    ? undefined
    : `nothing but ${candidate.learntFrom} says that \`${path}\` has values of namespace ${namespace}`;
}

/**
 * Whether a mapping belongs to a quota and not, for example, to a container's resources: because of a key that only
 * quotas have, because of its name, or because it has the limits in force.
 */
export function isOfQuota(
  { wanted }: Pick<Search, 'wanted'>,
  { leaves, pointer }: Pick<Mapping, 'leaves' | 'pointer'>,
): boolean {
  const current = identifyingLimits(wanted);
  return (
    leaves.some(({ key }) => /^(?:requests|limits)\.|^count\/|\.storageclass\./.test(key)) ||
    pointer.some((step) => /quota|hard/i.test(String(step))) ||
    (pointer.at(-2) !== 'resources' &&
      current !== undefined &&
      wanted.resources.every((resource) =>
        isCurrent(leaves.find(({ key }) => key === resource)?.text ?? '', current[resource]),
      ))
  );
}

/** Whether the path was given for this namespace. */
function isNamed({ candidate, path, wanted }: Search): boolean {
  return (
    candidate.path !== undefined &&
    path !== '' &&
    (['annotation', 'argocd', 'flux'].includes(candidate.from) || mentions(path, wanted.namespace))
  );
}

function isOf(namespace: string, { path }: ManifestDocument, pointer: Pointer): boolean {
  return pointer.includes(namespace) || mentions(path, namespace);
}

/** If several mappings have the keys: those with the limits in force. */
function fitting({ wanted }: Search, mappings: readonly Mapping[]): readonly Mapping[] {
  const current = identifyingLimits(wanted);
  if (mappings.length < 2 || current === undefined) {
    return mappings;
  }
  return mappings.filter(({ leaves }) =>
    wanted.resources.every((resource) =>
      isCurrent(leaves.find(({ key }) => key === resource)?.text ?? '', current[resource]),
    ),
  );
}

/** Where a HelmRelease has its values. */
const VALUES: Pointer = ['spec', 'values'];

/** How deep values are searched; charts nest less. */
const DEPTH = 8;

function mappingsIn(document: ManifestDocument, release: ReleaseObject | undefined): readonly Mapping[] {
  const found: Mapping[] = [];
  const visit = (node: unknown, pointer: Pointer, line: number): void => {
    if (pointer.length > DEPTH) {
      return;
    }
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        visit(resolved(item, document), [...pointer, index], document.lineOf(item));
      }
    } else if (isMap(node)) {
      const pairs = node.items as Pair<Node, Node | null>[];
      const keys = pairs.map(({ key }) => (isScalar(key) ? String(key.value) : ''));
      const leaves = keys.length > 0 && keys.every(isQuotaKey) ? leavesAt(document, pointer) : [];
      if (leaves.length > 0 && leaves.every(({ text, shared }) => shared === undefined && isQuantity(text ?? ''))) {
        found.push({ document, pointer, line, leaves });
        return;
      }
      for (const [index, { key, value }] of pairs.entries()) {
        visit(resolved(value, document), [...pointer, keys[index] ?? ''], document.lineOf(key));
      }
    }
  };
  if (release !== undefined && isReleaseObject(document, release)) {
    const values = nodeAt(document, VALUES);
    visit(values, VALUES, values === undefined ? 1 : document.lineOf(values));
    return found;
  }
  // A Kubernetes object, even an incomplete one, is not a mapping of values.
  const isObject = ['apiVersion', 'kind'].some((key) => textAt(document, [key]) !== undefined);
  if (document.error === undefined && !isObject) {
    visit(document.root, [], 1);
  }
  return found;
}
