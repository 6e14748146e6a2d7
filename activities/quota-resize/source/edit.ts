/** All changes of a decision in Git, on one commit of one base branch: one commit and one pull request. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { type Decision, decidedLimits, type LimitChange } from '../../../domain/quota-resize/model/decision.ts';
import type { Placement } from '../../../domain/quota-resize/model/placement.ts';
import type { RaisedQuota } from '../../../domain/quota-resize/pull-request/body.ts';
import type { FileChange } from '../../forge/forge.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { type GitTree, GitTrees } from './git-tree.ts';
import type { QuotaCandidates } from '../interface.ts';
import { recordedQuotaFile, type QuotaFile, type QuotaFileProblem, type SearchOptions } from './quota-file.ts';

export interface DecisionEdit {
  readonly kind: 'edit';
  readonly tree: GitTree;
  /** The changed file with the values of the decision's own quota. */
  readonly path: string;
  /** The present values of the decision's resources in Git. */
  readonly limits: ResourceList;
  /** Empty when Git already has all values of the decision's own quota. */
  readonly files: readonly FileChange[];
  /** The decision's own quota, then the batched quotas that are raised with it. */
  readonly quotas: readonly RaisedQuota[];
  readonly leftOut: readonly { readonly quota: string; readonly why: string }[];
}

/** The raises of a quota, and where they apply. */
interface Raised {
  readonly changes: readonly LimitChange[];
  readonly placement?: Placement | undefined;
}

/**
 * Locates the decision's quota and its batched quotas, and edits them in memory. A batched quota that cannot be part of
 * the same pull request is left out; its own episode handles it.
 */
export async function editDecision(
  repositories: Repositories,
  {
    target,
    decision,
    candidatesByQuota,
  }: { target: QuotaTarget; decision: Decision; candidatesByQuota: readonly QuotaCandidates[] },
  use: Pick<SearchOptions, 'maxBaseAgeMs' | 'isFirstUse'> = {},
): Promise<DecisionEdit | QuotaFileProblem> {
  const trees = new GitTrees();
  const find = (quota: string, { changes, placement }: Raised): ReturnType<typeof recordedQuotaFile> => {
    const { candidates = [], current } = candidatesByQuota.find((location) => location.quota === quota) ?? {};
    const { source } = decision;
    const recorded = source && placement ? { ...source, placement } : null;
    const options = { ...use, candidates, current, trees };
    return recordedQuotaFile(repositories, { ...target, quota }, decidedLimits({ changes }), { ...options, recorded });
  };
  const own = await find(target.quota, { changes: decision.changes, placement: decision.source?.placement });
  if (own.kind === 'blocked') return own;
  const { tree, changedPath: path, limits } = own;
  if (own.edits.length === 0) return { kind: 'edit', tree, path, limits, files: [], quotas: [], leftOut: [] };
  tree.apply(own.edits);
  const quotas = [raisedQuota(target.quota, decision.changes, own)];
  const leftOut: { quota: string; why: string }[] = [];
  for (const batchedQuota of decision.batchedQuotas ?? []) {
    const { quota, changes } = batchedQuota;
    const found = await find(quota, batchedQuota);
    const why = whyLeftOut(found, tree);
    if (found.kind === 'blocked' || why !== null) {
      leftOut.push({ quota, why: why ?? '' });
    } else {
      tree.apply(found.edits);
      quotas.push(raisedQuota(quota, changes, found));
    }
  }
  return { kind: 'edit', tree, path, limits, files: tree.changes(), quotas, leftOut };
}

function whyLeftOut(found: QuotaFile | QuotaFileProblem, tree: GitTree): string | null {
  if (found.kind === 'blocked') return found.message;
  if (found.tree !== tree) return `it is in ${found.tree.name}`;
  return found.edits.length === 0 ? 'Git holds enough already' : null;
}

/** The changes that the pull request makes: those that Git does not have yet, starting from Git's values. */
function raisedQuota(quota: string, changes: readonly LimitChange[], { raised, limits, how }: QuotaFile): RaisedQuota {
  return {
    quota,
    how,
    changes: changes
      .filter(({ resource }) => Object.hasOwn(raised, resource))
      .map((change) => ({ ...change, from: limits[change.resource] ?? change.from })),
    inGit: Object.fromEntries(Object.entries(limits).filter(([resource]) => !Object.hasOwn(raised, resource))),
  };
}
