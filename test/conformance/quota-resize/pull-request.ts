/** The cases of an existing resizer about its edit of a manifest and its merge of a pull request. */
import * as z from 'zod';
import { mergeabilityOf } from '../../../activities/forge/github/mergeability.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { mergeReadiness } from '../../../domain/quota-resize/decide/merge-readiness.ts';
import type { PullRequestObservation } from '../../../domain/quota-resize/model/observation.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import { editLocation } from '../../../domain/quota-resize/git/locate/location/edit-location.ts';
import { scanQuotas } from '../../../domain/quota-resize/git/locate/scan/scan.ts';
import { type Adapter, adapter, LATER_STRATEGY, NotApplicable } from '../adapter.ts';
import { sameJson } from '../compare.ts';
import { UNCONFIGURED } from './unconfigured.ts';

const list = z.record(z.string(), z.string());

/** Some moment; the push lies so far back that every settle time has passed. */
const ANY_TIME = 0;

/** Puts the limits into a manifest of the quota, its values quoted as in the cases. */
function editYaml({ specHard, limits }: { readonly specHard: ResourceList; readonly limits: ResourceList }): unknown {
  const hard = Object.entries(specHard).map(([resource, value]) => `    ${resource}: "${value}"\n`);
  const manifest = `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: q\n  namespace: n\nspec:\n  hard:\n${hard.join('')}`;
  const tree = { paths: ['q.yaml'], texts: new Map([['q.yaml', manifest]]) };
  const scan = scanQuotas(tree);
  const [place] = scan.kind === 'scanned' ? scan.quotas : [];
  const edited = place === undefined ? undefined : editLocation(tree, place, limits);
  return edited?.kind === 'edited' ? (edited.edits[0]?.after ?? manifest) : edited;
}

const parts = z.strictObject({ contains: z.array(z.string()) });

function containsAll(expected: unknown, got: unknown): boolean {
  const { contains } = parts.parse(expected);
  return typeof got === 'string' && contains.every((part) => got.includes(part));
}

const mergeInput = z.strictObject({
  enableAutoMerge: z.boolean(),
  annotationAutoMerge: z.string().optional(),
  prDirection: z.enum(['grow', 'shrink']).optional(),
  pr: z.strictObject({
    mergeable: z.boolean().optional(),
    mergeableState: z.string(),
    checks: z.enum(['success', 'failure', 'pending']).optional(),
  }),
});

/** Whether the pull request of a raise is merged, all else being settled: long after its push, our commit alone on it. */
function merges({ enableAutoMerge, annotationAutoMerge, prDirection, pr }: z.infer<typeof mergeInput>): boolean {
  if (prDirection === 'shrink') throw new NotApplicable(LATER_STRATEGY);
  const { policy } = resolvePolicy({
    defaults: { ...UNCONFIGURED, autoMerge: enableAutoMerge },
    namespace: {
      name: 'team-a',
      annotations: annotationAutoMerge === undefined ? {} : { 'resizer.io/auto-merge': annotationAutoMerge },
    },
    quotaAnnotations: undefined,
  });
  const ref = {
    number: 1,
    url: '',
    repository: '',
    branch: '',
    base: 'main',
    path: '',
    headSha: '',
    openedAt: ANY_TIME,
    pushedAt: ANY_TIME,
  };
  const seen: PullRequestObservation = {
    number: 1,
    url: '',
    state: 'open',
    headSha: '',
    headIsOurs: true,
    mergeability: mergeabilityOf({ draft: false, mergeable: pr.mergeable ?? null, mergeable_state: pr.mergeableState }),
    checks: {
      total: pr.checks === undefined ? 0 : 1,
      pending: pr.checks === 'pending' ? ['check'] : [],
      failing: pr.checks === 'failure' ? ['check'] : [],
    },
    hasRequiredChecks: false,
    closedBy: 'unknown',
    merge: null,
  };
  return policy.autoMerge.allowed && mergeReadiness(seen, ref, ANY_TIME, 0).kind === 'ready';
}

export const pullRequestKinds: Readonly<Record<string, Adapter>> = {
  'yaml-edit': adapter(z.strictObject({ specHard: list, limits: list }), parts, editYaml, containsAll),
  'auto-merge': adapter(
    mergeInput,
    z.strictObject({ merged: z.boolean() }),
    (input) => ({ merged: merges(input) }),
    sameJson,
  ),
};
