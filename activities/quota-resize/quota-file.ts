/**
 * From a quota to the file of the GitOps repository that holds it, and to that file with the decided limits in it.
 * Nothing is written here.
 */
import { compareQuantities } from '../../domain/kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import {
  candidateFiles,
  GitPathError,
  namesNamespace,
  parsePathTemplate,
  type PathTemplate,
  renderPath,
} from '../../domain/quota-resize/git-path.ts';
import {
  editQuota,
  type Located,
  locateQuota,
  ManifestEditError,
  valuesInGit,
} from '../../domain/quota-resize/manifest.ts';
import type { SourceProblem } from '../../domain/quota-resize/observation.ts';
import type { BaseBranch, GitHub, TreeEntry } from '../ports/github.ts';

/** More files than this below one path are not read, one request each: the path is too wide then. */
const MAX_FILES = 300;
/** Files read at the same time; GitHub allows 100 requests at once for a whole account. */
const FILES_AT_ONCE = 8;

/** The quota's file at one base commit, and what it becomes. */
export interface QuotaFile {
  readonly kind: 'found';
  readonly base: BaseBranch;
  readonly path: string;
  readonly mode: string;
  readonly line: number;
  readonly blobSha: string;
  /** The values of the asked resources in Git. */
  readonly limits: ResourceList;
  /** Those of the asked limits that are above Git's values. */
  readonly raised: ResourceList;
  /** The file with `raised` in it; the same text when there is nothing to raise. */
  readonly edited: string;
}

export interface QuotaFileProblem {
  readonly kind: 'blocked';
  readonly reason: SourceProblem;
  readonly message: string;
}

/**
 * Finds the quota and edits it in memory.
 *
 * @param options.gitPath the namespace's `resizer.io/git-path`, in place of the template.
 * @param options.maxBaseAgeMs how old the knowledge of the base branch may be.
 */
export async function findQuotaFile(
  github: GitHub,
  target: QuotaTarget,
  limits: ResourceList,
  options: { readonly template: string; readonly gitPath: string | null; readonly maxBaseAgeMs?: number },
): Promise<QuotaFile | QuotaFileProblem> {
  const { gitPath, template: configured, maxBaseAgeMs = 0 } = options;
  let template: PathTemplate;
  let path: string;
  try {
    template = parsePathTemplate(gitPath ?? configured);
    path = renderPath(template, target);
  } catch (error) {
    if (!(error instanceof GitPathError)) throw error;
    return blocked('FileNotFound', `${error.message}${gitPath === null ? '' : ' (annotation resizer.io/git-path)'}`);
  }
  const base = await github.base(maxBaseAgeMs);
  if (base.kind === 'missing') return blocked('RepositoryNotFound', base.message);
  const place = { repository: github.repository, base: base.name, path, annotated: gitPath !== null };

  const entries = await github.entriesBelow(base.treeSha, path);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const candidates = candidateFiles(entries, path).flatMap((name) => byPath.get(name) ?? []);
  if (candidates.length === 0) return fileNotFound(target, place, 'there is no YAML file');
  if (candidates.length > MAX_FILES) {
    return fileNotFound(
      target,
      place,
      `there are ${candidates.length} YAML files, more than the ${MAX_FILES} that are searched`,
    );
  }
  const { files, unreadable } = await readFiles(github, candidates);
  const name = { namespace: target.namespace, name: target.quota };
  const located = locateQuota(files, name, { acceptUnnamed: gitPath !== null || namesNamespace(template) });
  if (located.kind !== 'Found') return notPlaced(target, place, located, unreadable);

  const file = files.find((candidate) => candidate.path === located.path);
  const entry = byPath.get(located.path);
  if (file === undefined || entry === undefined) throw new Error(`${located.path} was located but not read`);
  const inGit = valuesInGit(file.text, name, Object.keys(limits));
  const raised = above(limits, inGit);
  try {
    const edit = editQuota(file.text, name, raised);
    if (edit.kind === 'Unplaceable') {
      return blocked('Unplaceable', `${whereOf(place)}, ${located.path}: ${edit.message}`);
    }
    return {
      kind: 'found',
      base,
      path: located.path,
      mode: entry.mode,
      line: located.line,
      blobSha: entry.sha,
      limits: inGit,
      raised,
      edited: edit.text,
    };
  } catch (error) {
    if (!(error instanceof ManifestEditError)) throw error;
    return blocked('Unplaceable', `${whereOf(place)}, ${located.path}: ${error.message}`);
  }
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

async function readFiles(
  github: GitHub,
  entries: readonly TreeEntry[],
): Promise<{ readonly files: readonly { path: string; text: string }[]; readonly unreadable: readonly string[] }> {
  const files: { path: string; text: string }[] = [];
  const unreadable: string[] = [];
  for (let start = 0; start < entries.length; start += FILES_AT_ONCE) {
    const slice = entries.slice(start, start + FILES_AT_ONCE);
    const texts = await Promise.all(slice.map(({ sha }) => github.fileText(sha)));
    for (const [index, { path }] of slice.entries()) {
      const text = texts[index] ?? null;
      if (text === null) unreadable.push(path);
      else files.push({ path, text });
    }
  }
  return { files, unreadable };
}

interface SearchedPlace {
  readonly repository: string;
  readonly base: string;
  readonly path: string;
  readonly annotated: boolean;
}

function whereOf({ repository, base }: SearchedPlace): string {
  return `${repository} at ${base}`;
}

function notPlaced(
  target: QuotaTarget,
  place: SearchedPlace,
  located: Exclude<Located, { kind: 'Found' }>,
  unreadable: readonly string[],
): QuotaFileProblem {
  switch (located.kind) {
    case 'FoundTwice': {
      const places = located.places.map(({ path, line }) => `${path}:${line}`).join(', ');
      return blocked(
        'FoundTwice',
        `ResourceQuota ${target.namespace}/${target.quota} stands in ${located.places.length} places of ${whereOf(place)}: ${places}; keep one, or name its file with the annotation resizer.io/git-path on the namespace`,
      );
    }
    case 'NotYaml': {
      const places = located.places.map(({ path, line, message }) => `${path}:${line}: ${message}`).join('; ');
      return blocked(
        'NotYaml',
        `${whereOf(place)} has no readable ResourceQuota ${target.namespace}/${target.quota}: ${places}`,
      );
    }
    case 'NotFound': {
      if (unreadable.length > 0) {
        return blocked('NotYaml', `${whereOf(place)}: not UTF-8, so not YAML: ${unreadable.join(', ')}`);
      }
      const seen = located.others.map(
        ({ path, line, name, namespace }) => `${namespace ?? '?'}/${name} in ${path}:${line}`,
      );
      const others = seen.length === 0 ? '' : `, only ${seen.join(', ')}`;
      return fileNotFound(target, place, `no file of the ${located.searched.length} there has it${others}`);
    }
    default:
      return located satisfies never;
  }
}

function fileNotFound(target: QuotaTarget, place: SearchedPlace, why: string): QuotaFileProblem {
  const path = place.path === '' ? 'the whole repository' : `"${place.path}"`;
  const remedy = place.annotated
    ? `correct the annotation resizer.io/git-path of namespace ${target.namespace}`
    : `name its folder or file with the annotation resizer.io/git-path on namespace ${target.namespace}, or correct GIT_PATH_TEMPLATE`;
  return blocked(
    'FileNotFound',
    `no file for ResourceQuota ${target.namespace}/${target.quota} in ${whereOf(place)}, searched ${path}: ${why}; ${remedy}`,
  );
}

function blocked(reason: SourceProblem, message: string): QuotaFileProblem {
  return { kind: 'blocked', reason, message };
}
