import { rulesOf } from '../branch-rules.ts';
import type { ForgeContext } from '../context.ts';
import { nodeId } from '../represent/urls.ts';
import { connection, type PageArguments } from './connection.ts';

/** `RuleParameters`: what REST has of the rule, with GraphQL's names. */
function shownParameters(
  type: string,
  parameters: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const camel = (name: string): string => name.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
  const __typename = `${camel(`_${type}`)}Parameters`;
  return { __typename, ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [camel(name), value])) };
}

/** What of `Ref` is about its protection: a classic one, as people without the right to change it see it, and rulesets. */
export function refRules(forge: ForgeContext, ref: string): Readonly<Record<string, unknown>> {
  const protection = forge.store.state.protections[ref.replace(/^refs\/heads\//, '')];
  const classic = protection?.as === 'protection' ? protection : undefined;
  const rules = (protection ? rulesOf(protection) : []).map(({ type, parameters }) => ({
    __typename: 'RepositoryRule',
    id: nodeId('RepositoryRule', type),
    type: type.toUpperCase(),
    parameters: parameters === undefined ? null : shownParameters(type, parameters),
  }));
  return {
    refUpdateRule: classic
      ? {
          __typename: 'RefUpdateRule',
          pattern: ref.replace(/^refs\/heads\//, ''),
          requiredStatusCheckContexts: classic.requiredChecks,
          requiredApprovingReviewCount: classic.requiredReviews,
          requiresCodeOwnerReviews: classic.requireCodeOwnerReviews,
          allowsDeletions: false,
          allowsForcePushes: false,
          blocksCreations: false,
          requiresConversationResolution: false,
          requiresLinearHistory: classic.requireLinearHistory,
          requiresSignatures: false,
          viewerAllowedToDismissReviews: false,
          viewerCanPush: false,
        }
      : null,
    rules: (page: PageArguments) => connection('rules', rules, page),
  };
}
