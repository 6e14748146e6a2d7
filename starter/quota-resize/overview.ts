/** What the overview shows of quotas: how full they are, and what is decided about them. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { fullness, type QuotaFullness, quotaFullness, type ResourceUsage } from '../../domain/kernel/quota-fullness.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import { listText } from '../../domain/kernel/sentence.ts';
import { targetName } from '../../domain/kernel/target.ts';
import { fromNow } from '../../domain/kernel/time.ts';
import type { OpenDecision } from '../../domain/quota-resize/model/open-decision.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import type { Overview, OverviewCell, OverviewLink, OverviewRow, Waiting } from '../overview/part.ts';

/** Beside the fullest. */
const OTHER_LIMITS_SHOWN = 3;

export interface QuotaOverviewOptions {
  readonly cluster: string;
  /** Of a namespace, or all. */
  readonly quotas: (namespace?: string) => readonly V1ResourceQuota[];
  readonly quota: (name: string, namespace: string) => V1ResourceQuota | undefined;
  readonly decisions: ReadonlyMap<string, OpenDecision>;
  readonly policyOf: (quota: V1ResourceQuota) => ResizePolicy;
  /** Whether anything is merged at all; a policy can only say no. */
  readonly mayMerge: boolean;
  /** As `ThresholdStatesOptions` has it. */
  readonly countedUsed: (namespace: string, quota: string) => ResourceList | null;
}

export function quotaOverview(options: QuotaOverviewOptions): Overview {
  const { cluster, quotas, decisions } = options;
  const usageOf = rememberedUsage(options.countedUsed);
  const workflowOf = ({ namespace, quota }: Named): string => quotaResizeId({ cluster, namespace, quota });
  return ({ namespace, now }) => {
    const sorted = quotas(namespace ?? undefined)
      .map((object) => ({ object, ...usageOf(object) }))
      .toSorted((a, b) => b.fullest - a.fullest || (a.name < b.name ? -1 : 1));
    const open = [...decisions.values()].filter((decision) => namespace === null || decision.namespace === namespace);
    const full = sorted.filter(({ fullest }) => fullest >= NEARLY_FULL).length;
    const autoMerges = (decision: OpenDecision): boolean => {
      if (!options.mayMerge) return false;
      const object = options.quota(decision.quota, decision.namespace);
      return object !== undefined && options.policyOf(object).autoMerge.allowed;
    };
    return {
      waiting: open.map((decision) => waitingFor(decision, autoMerges, workflowOf(decision))),
      tables: [
        {
          id: 'quotas',
          title: 'Quotas',
          columns: ['Quota', 'Fullest', 'Others', 'Decision'],
          empty: namespace === null ? 'There is no ResourceQuota.' : `There is no ResourceQuota in ${namespace}.`,
          summary: `The fullest first; ${full} of ${sorted.length} at ${NEARLY_FULL} % or more.`,
          total: sorted.length,
          rows: (from, to) =>
            sorted.slice(from, to).map(({ object, name, usage, fullest }): OverviewRow => {
              const decision = decisions.get(name) ?? null;
              const isActive = decision !== null || fullest >= NEARLY_FULL;
              return {
                cells: [
                  { text: name, ...scopesOf(usage) },
                  fullestCell(usage),
                  { text: othersText(usage) },
                  decisionCell(decision, options.policyOf(object), now),
                ],
                links: decision === null ? [] : pullRequestLinks(decision),
                workflow: isActive ? workflowOf(usage) : null,
                command: isActive ? `kubectl headroom explain quota-resize ${name}` : null,
              };
            }),
        },
      ],
    };
  };
}

type Named = Pick<QuotaFullness, 'namespace' | 'quota'>;

/** Percent; the default of the threshold. */
const NEARLY_FULL = 80;

/** What is shown of a quota, reckoned once for each version of it and of its count. */
interface RememberedUsage {
  readonly count: ResourceList | null;
  readonly name: string;
  readonly usage: QuotaFullness;
  /** Percent. */
  readonly fullest: number;
}

function rememberedUsage(counted: QuotaOverviewOptions['countedUsed']): (quota: V1ResourceQuota) => RememberedUsage {
  const remembered = new WeakMap<V1ResourceQuota, RememberedUsage>();
  return (quota) => {
    const { metadata, spec, status } = quota;
    const count = counted(metadata?.namespace ?? '', metadata?.name ?? '');
    const before = remembered.get(quota);
    if (before !== undefined && before.count === count) return before;
    const used = { ...status?.used, ...count };
    const usage = quotaFullness({ metadata, spec, status: { hard: status?.hard, used } });
    const [first] = usage.resources;
    const fullest = first === undefined ? Number.NEGATIVE_INFINITY : fullness(first);
    const now = { count, name: targetName(usage), usage, fullest };
    remembered.set(quota, now);
    return now;
  };
}

function scopesOf({ scopes }: QuotaFullness): Partial<OverviewCell> {
  return scopes.length === 0 ? {} : { detail: scopes.join(', ') };
}

function fullestCell({ resources: [first] }: QuotaFullness): OverviewCell {
  if (first === undefined) return { text: 'without any limit' };
  const value = fullness(first);
  const detail = `${first.used ?? 'not counted'} of ${first.hard}`;
  const tone = value >= 100 ? { tone: 'bad' as const } : value >= NEARLY_FULL ? { tone: 'warn' as const } : {};
  return { text: limitText(first), detail, percent: Number.isFinite(value) ? value : 100, ...tone };
}

function limitText({ resource, used, percent }: ResourceUsage): string {
  if (used === null) return `${resource} not counted`;
  return percent === null ? `${resource} ${used}` : `${resource} ${Math.floor(percent)} %`;
}

function othersText({ resources }: QuotaFullness): string {
  const others = resources.slice(1).map(limitText);
  return others.length === 0 ? '' : listText(others, OTHER_LIMITS_SHOWN);
}

function decisionCell(decision: OpenDecision | null, { enabled, mode }: ResizePolicy, now: number): OverviewCell {
  if (decision === null)
    return { text: enabled ? (mode === 'observe' ? 'none: observed only' : 'none') : 'none: opted out' };
  return { text: changesText(decision), detail: `decided ${fromNow(decision.decidedAt, now)}` };
}

function changesText({ changes }: OpenDecision): string {
  return listText(changes.map(({ resource, from, to }) => `${resource} ${from} → ${to}`));
}

function pullRequestLinks({ pullRequest }: OpenDecision): readonly OverviewLink[] {
  return pullRequest === null ? [] : [{ text: `Pull request #${pullRequest.number}`, url: pullRequest.url }];
}

/** Only what is shown is approved: the decision may have grown since the page was loaded. */
function headOption({ pullRequest }: OpenDecision): string {
  return pullRequest === null ? '' : ` --head ${pullRequest.headSha.slice(0, 12)}`;
}

function waitingFor(
  decision: OpenDecision,
  autoMerges: (decision: OpenDecision) => boolean,
  workflow: string,
): Waiting {
  const { waitsFor, since } = decision;
  const name = targetName(decision);
  const common = { what: `quota ${name}`, since, links: pullRequestLinks(decision), workflow };
  const raise = changesText(decision);
  switch (waitsFor.kind) {
    case 'approval':
      return {
        ...common,
        whom: 'a person',
        isForPeople: true,
        why: `An approval of ${raise}: ${waitsFor.requirement.message}`,
        command: `kubectl headroom approve ${name}${headOption(decision)} --reason WHY`,
      };
    case 'pull-request':
      return {
        ...common,
        whom: 'Headroom',
        isForPeople: false,
        why: `The pull request for ${raise} is opened.`,
        command: `kubectl headroom status ${name}`,
      };
    case 'merge':
      return autoMerges(decision)
        ? {
            ...common,
            whom: 'GitHub',
            isForPeople: false,
            why: `Checks and reviews let ${raise} be merged.`,
            command: `kubectl headroom status ${name}`,
          }
        : {
            ...common,
            whom: 'a person',
            isForPeople: true,
            why: `Somebody merges the pull request with ${raise}, or closes it.`,
            command: `kubectl headroom status ${name}`,
          };
    case 'joined-merge':
      return {
        ...common,
        whom: `quota ${waitsFor.of}`,
        isForPeople: false,
        why: `The pull request that also has ${raise} is merged.`,
        command: `kubectl headroom status ${waitsFor.of}`,
      };
    case 'sync':
      return {
        ...common,
        whom: 'GitOps',
        isForPeople: false,
        why: `The cluster shows ${raise}, which is merged.`,
        command: `kubectl headroom status ${name}`,
      };
  }
}
