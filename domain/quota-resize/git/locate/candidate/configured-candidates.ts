/** The last source candidates for a quota: the configured path, and then every repository as a whole. */
import { namesNamespace, parsePathTemplate, type PathFields, renderPath } from './path-template.ts';
import type { SourceCandidate } from './source-candidate.ts';

/**
 * @param target without a cluster, a template that contains the cluster gives no candidate.
 * @param narrowed fields from annotations; they apply to every candidate.
 * @param notes phrases that say why no other candidate was found.
 * @throws {GitPathError} when the template is invalid, or the target makes the path leave the repository.
 */
export function configuredCandidates(
  pathTemplate: string,
  target: Omit<PathFields, 'cluster'> & { readonly cluster: string | undefined },
  narrowed: Pick<SourceCandidate, 'repository' | 'ref' | 'refBy' | 'field'> = {},
  notes: readonly string[] = [],
): readonly SourceCandidate[] {
  const because = notes.length === 0 ? '' : ` (${notes.join(', and ')})`;
  const template = parsePathTemplate(pathTemplate);
  const scan: SourceCandidate = {
    from: 'scan',
    learntFrom: `a search of the whole repository${because}`,
    template: template.text,
    ...narrowed,
  };
  const { cluster, namespace, quota } = target;
  if (cluster === undefined && template.parts.some((part) => typeof part !== 'string' && part.field === 'cluster')) {
    return [scan];
  }
  const path = renderPath(template, { cluster: cluster ?? '', namespace, quota });
  const learntFrom = `the path template \`${pathTemplate}\`${because}`;
  const applied = namesNamespace(template) ? { namespace } : {};
  return path === '' ? [scan] : [{ from: 'template', learntFrom, path, ...applied, ...narrowed }, scan];
}
