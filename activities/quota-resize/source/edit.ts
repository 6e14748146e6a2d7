/** All changes of a decision in Git, on one commit of one base branch: one commit and one pull request. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import {
  type Decision,
  decidedLimits,
  type LimitChange,
  type Relocation,
} from '../../../domain/quota-resize/model/decision.ts';
import type { Placement } from '../../../domain/quota-resize/model/placement.ts';
import type { RaisedQuota } from '../../../domain/quota-resize/pull-request/body.ts';
import { forbiddenPlace } from '../../../domain/quota-resize/policy/allowed-place.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import type { FileChange } from '../../forge/forge.ts';
import type { DeliveredRepositories } from './deliveries.ts';
import { type GitTree, GitTrees } from './git-tree.ts';
import type { QuotaCandidates } from '../interface.ts';
import {
  changedPlace,
  recordedQuotaFile,
  type QuotaFile,
  type QuotaFileProblem,
  type SearchOptions,
} from './quota-file.ts';

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
  /** The changed files of each quota that is raised. */
  readonly pathsByQuota: ReadonlyMap<string, readonly string[]>;
  /** Present when nothing but an annotation names the base branch. */
  readonly branchBy?: 'annotation';
  /** Present when a place or a text is not the one that the decision says. */
  readonly relocation?: Relocation;
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
  repositories: DeliveredRepositories,
  {
    target,
    decision,
    policy,
    candidatesByQuota,
  }: {
    target: QuotaTarget;
    decision: Decision;
    policy: Pick<ResizePolicy, 'guardrail'>;
    candidatesByQuota: readonly QuotaCandidates[];
  },
  use: Pick<SearchOptions, 'maxBaseAgeMs' | 'isFirstUse' | 'alongside' | 'at' | 'trees'> = {},
): Promise<DecisionEdit | QuotaFileProblem> {
  const { trees = new GitTrees() } = use;
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
  const forbidden = forbiddenPlace(policy.guardrail, target, changedPlace(own));
  if (forbidden !== null) return { kind: 'blocked', reason: 'OutsideGuardrail', message: forbidden };
  let isSame = isRecorded(decision.source?.placement, own.placement);
  // At a given commit the texts have to be those of the decision as well, and nothing is written into the tree otherwise.
  if (use.at !== undefined && !isSame) return notAsDecided();
  const pathsByQuota = new Map([[target.quota, own.edits.map((edit) => edit.path)]]);
  if (own.edits.length === 0)
    return { kind: 'edit', tree, path, limits, files: [], quotas: [], leftOut: [], pathsByQuota };
  tree.apply(own.edits);
  const quotas = [raisedQuota(target.quota, decision.changes, own)];
  const leftOut: { quota: string; why: string }[] = [];
  const batched: Record<string, Placement> = {};
  for (const batchedQuota of decision.batchedQuotas ?? []) {
    const { quota, changes } = batchedQuota;
    const found = await find(quota, batchedQuota);
    const why = whyLeftOut(found, tree);
    if (found.kind === 'blocked' || why !== null) {
      leftOut.push({ quota, why: why ?? '' });
    } else {
      tree.apply(found.edits);
      pathsByQuota.set(
        quota,
        found.edits.map((edit) => edit.path),
      );
      quotas.push(raisedQuota(quota, changes, found));
      batched[quota] = found.placement;
      isSame &&= isRecorded(batchedQuota.placement, found.placement);
    }
  }
  if (use.at !== undefined && !isSame) return notAsDecided();
  const { branchBy } = own.placement;
  const named = {
    ...(branchBy === undefined ? {} : { branchBy }),
    ...(isSame ? {} : { relocation: { placement: own.placement, batched } }),
  };
  return { kind: 'edit', tree, path, limits, files: tree.changes(), quotas, leftOut, pathsByQuota, ...named };
}

function notAsDecided(): QuotaFileProblem {
  const message = 'a value is another one than when this was decided';
  return { kind: 'blocked', reason: 'Unplaceable', message };
}

/** Whether every value is where the decision says, as it says, and no less certain; also where it does not say it. */
function isRecorded(recorded: Placement | undefined, now: Placement): boolean {
  if (recorded === undefined) return true;
  return (
    recorded.notProved === now.notProved &&
    recorded.branchBy === now.branchBy &&
    Object.entries(recorded.values).every(([resource, { path, field, text }]) => {
      const value = now.values[resource];
      return value === undefined || (value.path === path && value.field === field && value.text === text);
    })
  );
}

function whyLeftOut(found: QuotaFile | QuotaFileProblem, tree: GitTree): string | null {
  if (found.kind === 'blocked') return found.message;
  if (found.tree !== tree) return `it is in ${found.tree.name}`;
  return found.edits.length === 0 ? 'Git holds enough already' : null;
}

/** The changes that the pull request makes: those that Git does not have yet, starting from Git's values. */
function raisedQuota(
  quota: string,
  changes: readonly LimitChange[],
  { raised, limits, how, placement }: QuotaFile,
): RaisedQuota {
  const { notProved } = placement;
  return {
    quota,
    how,
    ...(notProved === undefined ? {} : { notProved }),
    changes: changes
      .filter(({ resource }) => Object.hasOwn(raised, resource))
      .map((change) => ({ ...change, from: limits[change.resource] ?? change.from })),
    inGit: Object.fromEntries(Object.entries(limits).filter(([resource]) => !Object.hasOwn(raised, resource))),
  };
}
