/** Whether a guardrail allows a place in Git, wherever it was learnt from. */
import { isBelowField } from '../git/yaml/field-path.ts';
import { parsePathTemplate, renderPath } from '../git/locate/candidate/path-template.ts';
import type { QuotaTarget } from '../../kernel/target.ts';
import type { GuardrailInForce } from './guardrail.ts';

/** Where a pull request changes a quota. */
export interface ChangedPlace {
  /** `owner/name`. */
  readonly repository: string;
  readonly branch: string;
  readonly values: readonly { readonly path: string; readonly field: string }[];
}

/** Why the guardrail does not allow the place, as a sentence that names both; null when it does. */
export function forbiddenPlace(
  { name, git }: Pick<GuardrailInForce, 'name' | 'git'>,
  target: QuotaTarget,
  { repository, branch, values }: ChangedPlace,
): string | null {
  const sentence = (what: string, allowed: readonly string[]): string =>
    `${what}, and guardrail ${name} allows ${allowed.join(', ')} only`;
  const { repositories, branches, paths, fields } = git;
  if (repositories?.every((allowed) => allowed.toLowerCase() !== repository.toLowerCase()) === true) {
    return sentence(`the quota is in ${repository}`, repositories);
  }
  if (branches?.includes(branch) === false) {
    return sentence(`the quota is changed in branch ${branch} of ${repository}`, branches);
  }
  if (paths !== undefined) {
    const allowed = paths.map((path) => renderPath(parsePathTemplate(path), target));
    const outside = values.find(({ path }) => !allowed.some((folder) => isBelowPath(path, folder)));
    if (outside !== undefined) return sentence(`the quota is in ${outside.path} of ${repository}`, allowed);
  }
  if (fields !== undefined) {
    const outside = values.find(({ field }) => !fields.some((allowed) => isBelowField(field, allowed)));
    if (outside !== undefined) return sentence(`the limit is ${outside.field} of ${outside.path}`, fields);
  }
  return null;
}

function isBelowPath(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
