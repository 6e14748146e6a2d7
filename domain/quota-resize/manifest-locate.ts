/**
 * Finding one ResourceQuota among the files of a GitOps repository: by kind, name and namespace, exactly.
 */
import { isScalar, type Node } from 'yaml';
import { limitText, type NotYaml, type QuotaNode, scanStream, sourceOf } from './manifest-document.ts';

export interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

/** A ResourceQuota by its name in the cluster. */
export interface QuotaName {
  readonly namespace: string;
  readonly name: string;
}

/** One value of spec.hard in the text. */
interface HardValue {
  readonly resource: string;
  /** 1-based. */
  readonly line: number;
  /** Start and end of the value in the text, in UTF-16 units, quotes included, anchor and tag not. */
  readonly range: readonly [start: number, end: number];
  /** What stands there: `"2"`, `2`, `*small`. */
  readonly source: string;
  /** What it means: `2`. Absent where it is no single value. */
  readonly value?: string;
}

/** One ResourceQuota in a file. */
export interface QuotaLocation {
  readonly path: string;
  readonly name: string;
  /** Absent where the document leaves it to a kustomization or to the tool that applies it. */
  readonly namespace?: string;
  /** The line of its metadata.name, 1-based. */
  readonly line: number;
  readonly hard: readonly HardValue[];
}

interface Place {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

export type Located =
  | { readonly kind: 'Found'; readonly path: string; readonly line: number; readonly namespaceWritten: boolean }
  | {
      readonly kind: 'NotFound';
      /** The files that were looked at. */
      readonly searched: readonly string[];
      /** Quotas of a like name or of another namespace that were seen and do not match; at most five. */
      readonly others: readonly (Place & { readonly name: string; readonly namespace?: string })[];
    }
  | { readonly kind: 'FoundTwice'; readonly places: readonly Place[] }
  | { readonly kind: 'NotYaml'; readonly places: readonly (Place & { readonly message: string })[] };

/** How many quotas that do not match are named: enough to see a typo, and a message stays short. */
const OTHERS_SHOWN = 5;

/**
 * Every ResourceQuota of a file, in the order of the text. A file that is not YAML is a problem (the first one is told),
 * and only if it speaks of a ResourceQuota; documents of it that do parse are read all the same.
 */
export function findQuotas(
  text: string,
  path: string,
): { readonly quotas: readonly QuotaLocation[]; readonly problem?: NotYaml } {
  const { quotas, problems } = scanStream(text);
  const located = quotas.map((quota) => ({
    path,
    name: quota.name,
    ...(quota.namespace === undefined ? {} : { namespace: quota.namespace }),
    line: quota.line,
    hard: hardValues(quota),
  }));
  const [problem] = problems;
  return problem === undefined ? { quotas: located } : { quotas: located, problem };
}

function hardValues(quota: QuotaNode): readonly HardValue[] {
  const { hard, parsed, document } = quota;
  return (hard?.items ?? []).flatMap(({ key, value: raw }) => {
    const value = raw as Node | null;
    if (!isScalar(key) || typeof key.value !== 'string' || !value?.range) {
      return [];
    }
    const text = limitText(value, document);
    const [start, end] = value.range;
    return {
      resource: key.value,
      line: parsed.lineAt(start),
      range: [parsed.part.offset + start, parsed.part.offset + end] as const,
      source: sourceOf(parsed, value),
      ...(text === undefined ? {} : { value: text }),
    };
  });
}

/** The quotas of a text that are the wanted one; those that name its namespace rule out those that name none. */
export function matchingQuotas(
  text: string,
  { namespace, name }: QuotaName,
): { readonly exact: readonly QuotaNode[]; readonly unnamed: readonly QuotaNode[] } & ReturnType<typeof scanStream> {
  // First only the documents with both words in their text, because in one file of a thousand namespaces every quota has
  // the same name.
  const scan = scanStream(text, [name, namespace]);
  const exact = scan.quotas.filter((quota) => quota.name === name && quota.namespace === namespace);
  if (exact.length > 0) {
    return { ...scan, exact, unnamed: [] };
  }
  const wide = scanStream(text, [name]);
  return {
    ...wide,
    exact,
    unnamed: wide.quotas.filter((quota) => quota.name === name && quota.namespace === undefined),
  };
}

/**
 * The one place of a quota in the files. A document that names the namespace wins over one that names none; one that
 * names another namespace never counts. A file that cannot be read matters only when the quota is found nowhere else.
 *
 * @param options.acceptUnnamed whether a document without a namespace counts, which is right where the searched path is
 *   the namespace's own (its name is part of the path, or the namespace's annotation names the path). Default true.
 */
export function locateQuota(
  files: readonly ManifestFile[],
  target: QuotaName,
  options: { readonly acceptUnnamed?: boolean } = {},
): Located {
  const exact: Place[] = [];
  const unnamed: Place[] = [];
  const broken: (Place & { message: string })[] = [];
  const others: (Place & { name: string; namespace?: string })[] = [];
  for (const { path, text } of files) {
    const found = matchingQuotas(text, target);
    exact.push(...found.exact.map(({ line }) => ({ path, line })));
    unnamed.push(...found.unnamed.map(({ line }) => ({ path, line })));
    broken.push(...found.problems.map(({ line, message }) => ({ path, line, message })));
    for (const { name, namespace, line } of found.quotas) {
      others.push({ path, line, name, ...(namespace === undefined ? {} : { namespace }) });
    }
  }
  const places = exact.length > 0 || options.acceptUnnamed === false ? exact : unnamed;
  const [place] = places;
  if (places.length > 1) {
    return { kind: 'FoundTwice', places };
  }
  if (place !== undefined) {
    return { kind: 'Found', ...place, namespaceWritten: exact.length > 0 };
  }
  if (broken.length > 0) {
    return { kind: 'NotYaml', places: broken };
  }
  return { kind: 'NotFound', searched: files.map(({ path }) => path), others: others.slice(0, OTHERS_SHOWN) };
}
