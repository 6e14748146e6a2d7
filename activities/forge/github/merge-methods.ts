/** Which methods to merge GitHub allows: the settings of a repository, and what the rules of a branch leave of them. */
import { type MergeMethod, mergeMethods } from '../../../domain/kernel/forge.ts';

/** What a repository says of itself by REST; whoever may not write to it is not told, and every method counts as allowed. */
export function allowedMethods(settings: {
  readonly allow_squash_merge?: boolean;
  readonly allow_rebase_merge?: boolean;
  readonly allow_merge_commit?: boolean;
}): readonly MergeMethod[] {
  const allowed = {
    squash: settings.allow_squash_merge,
    rebase: settings.allow_rebase_merge,
    merge: settings.allow_merge_commit,
  };
  return mergeMethods.filter((method) => allowed[method] !== false);
}

/**
 * @param rules.linear whether one of them wants a history without merge commits.
 * @param rules.allowed the methods that each ruleset for pull requests names.
 */
export function methodsLeftBy({
  linear,
  allowed,
}: {
  readonly linear: boolean;
  readonly allowed: readonly (readonly string[])[];
}): readonly MergeMethod[] {
  return mergeMethods.filter(
    (method) => !(linear && method === 'merge') && allowed.every((names) => names.includes(method)),
  );
}
