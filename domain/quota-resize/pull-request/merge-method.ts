/** With which method a pull request is merged. */
import { type MergeMethod, mergeMethods } from '../../kernel/forge.ts';
import { listText } from '../../kernel/sentence.ts';

export type ChosenMethod =
  | { readonly kind: 'method'; readonly method: MergeMethod }
  /** None can be taken; `why` is a clause that says what to change, and where. */
  | { readonly kind: 'none'; readonly why: string };

/**
 * The method that the settings name, or the first that is allowed.
 *
 * @param allowed.byRepository by the settings of the repository.
 * @param allowed.byRules by the rules of the base branch.
 */
export function chosenMethod(
  wanted: MergeMethod | undefined,
  allowed: { readonly byRepository: readonly MergeMethod[]; readonly byRules: readonly MergeMethod[] },
  base: string,
): ChosenMethod {
  const { byRepository, byRules } = allowed;
  const both = mergeMethods.filter((method) => byRepository.includes(method) && byRules.includes(method));
  const method = wanted === undefined ? both[0] : both.find((one) => one === wanted);
  if (method !== undefined) return { kind: 'method', method };
  const places = `in the settings of the repository (General, Pull Requests) and in the rules of ${base}`;
  if (wanted === undefined || both.length === 0) {
    const why = `the settings of the repository allow ${named(byRepository)}, and the rules of ${base} allow ${named(byRules)}; allow one method ${places}`;
    return { kind: 'none', why };
  }
  const forbidding = byRepository.includes(wanted) ? `the rules of ${base} allow` : 'the repository allows';
  const left = byRepository.includes(wanted) ? byRules : byRepository;
  const why = `github.mergeMethod (GITHUB_MERGE_METHOD) is ${wanted}, and ${forbidding} ${named(left)}; change the setting of Headroom, or allow ${wanted} ${places}`;
  return { kind: 'none', why };
}

function named(methods: readonly MergeMethod[]): string {
  return methods.length === 0 ? 'no method' : `${listText(methods, mergeMethods.length)} only`;
}
