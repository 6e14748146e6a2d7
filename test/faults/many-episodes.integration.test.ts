import type { V1ClusterRole } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileLeaseName, readLeaseMemory } from '../../domain/quota-resize/model/lease.ts';
import { type AuditEvent, changesNothing } from '../kernel/servers/audit-log.ts';
import { templateObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { hasRepeated, ONE_OF_EACH, writtenFor } from './decision-writes.ts';
import { namespaceFiles, pathOf, press, QUOTA, quickTimings } from './pressed-namespaces.ts';
import { amount } from '../kernel/long.ts';

const COUNT = amount({ short: 8, long: 100 });
const namespaces = Array.from({ length: COUNT }, (_, index) => `team-${String(index).padStart(3, '0')}`);
/**
 * A hundred take as long as the machine needs for them. That none of them advances for so long is no lack of speed: nothing
 * backs off for longer than 30 s, and what was held up may meet that a few times.
 */
const STANDSTILL_MS = 120_000;
/** Ends a run that would go on for ever in small steps: thirty times what it takes here on two idle cores. */
const LONGEST_MS = 900_000;

/** What is written to the API server when each step of each decision is written once. */
const ONCE = {
  'create leases of a file': COUNT,
  'create leases': COUNT,
  // The pull request, that the merge is asked for, what came of it, the merge, the sync.
  'update leases': 5 * COUNT,
  'delete leases of a file': COUNT,
  // The recommendation and the merge.
  'create events': 2 * COUNT,
};

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(namespaces),
    env: quickTimings,
    workers: 2,
    starters: 2,
  });
  await eventually('the cluster has all quotas', async () => (await secretLimits()).length === COUNT);
});

afterAll(async () => {
  await stack?.stop();
});

async function secretLimits(): Promise<readonly string[]> {
  const { items } = await stack.core.listResourceQuotaForAllNamespaces();
  return items.filter(({ metadata }) => metadata?.name === QUOTA).map(({ spec }) => spec?.hard?.['secrets'] ?? '');
}

/** How far all of them have come together: what is there of each step of an episode. */
async function progress(): Promise<Readonly<Record<'recommended' | 'leases' | 'writesToGitHub' | 'raised', number>>> {
  const [events, leases, limits] = await Promise.all([
    stack.core.listEventForAllNamespaces({ fieldSelector: 'reason=QuotaResizeRecommended' }),
    stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE }),
    secretLimits(),
  ]);
  return {
    recommended: events.items.length,
    leases: leases.items.length,
    writesToGitHub: stack.forge.writes.filter(({ effect }) => effect).length,
    raised: limits.filter((limit) => limit === '2').length,
  };
}

/** What worker and starter wrote to the API server. */
async function writesOfHeadroom(): Promise<readonly AuditEvent[]> {
  const reads = new Set(['get', 'list', 'watch']);
  return (await eventsOfHeadroom()).filter((event) => !reads.has(event.verb) && !changesNothing(event));
}

async function eventsOfHeadroom(): Promise<readonly AuditEvent[]> {
  return (await stack.controlPlane.auditEvents()).filter(({ user }) => user.username.startsWith('headroom-'));
}

function codeOf({ responseStatus }: AuditEvent): number {
  return responseStatus?.code ?? 0;
}

/** Which namespace's episode wrote it. */
function writerOf({ objectRef }: AuditEvent): string {
  const { resource, namespace = '', name = '' } = objectRef ?? {};
  if (resource !== 'leases') return namespace;
  return (
    namespaces.find((candidate) => name === `state-${candidate}-${QUOTA}` || name === fileLeaseOf(candidate)) ?? name
  );
}

function fileLeaseOf(namespace: string): string {
  return fileLeaseName({ repository: 'acme/gitops', path: pathOf(namespace) });
}

/** `update leases`. */
function kindOf({ verb, objectRef }: AuditEvent): string {
  return `${verb} ${objectRef?.resource}${objectRef?.name?.startsWith('file-') ? ' of a file' : ''}`;
}

function count(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

describe(`${COUNT} quotas under pressure at once, with two workers and two starters`, () => {
  it(
    'are all raised, each by one pull request',
    async () => {
      const started = Date.now();
      await Promise.all(namespaces.map(async (namespace) => await press(stack, namespace)));
      // They advance side by side, so the first is raised when most of the work for all of them is done.
      let seen = await progress();
      while (seen.raised < namespaces.length) {
        const before = JSON.stringify(seen);
        seen = await eventually(
          `there is more than ${before}`,
          async () => {
            const now = await progress();
            return JSON.stringify(now) !== before && now;
          },
          STANDSTILL_MS,
        );
      }
      await eventually(
        'every decision is over',
        async () => {
          const { items } = await stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
          return items.length === COUNT && items.every((lease) => readLeaseMemory(lease).memory.decision === null);
        },
        STANDSTILL_MS,
      );
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      process.stdout.write(`${COUNT} episodes took ${seconds} s and ${stack.forge.requests} requests to GitHub\n`);

      const branches = new Set(stack.forge.writes.flatMap(({ branch, effect }) => (effect ? [branch ?? ''] : [])));
      expect([...branches].map((branch) => branch.split('/')[2] ?? '').toSorted()).toEqual(namespaces);
      for (const namespace of namespaces) {
        const writes = await writtenFor(stack, namespace);
        expect({ namespace, writes }).toEqual({ namespace, writes: ONE_OF_EACH });
      }
    },
    LONGEST_MS,
  );

  it('are one write for each step of each decision in the log of the API server', async () => {
    // A line of the log may be written a moment after its answer.
    const most = Object.values(ONCE).reduce((sum, count) => sum + count);
    let done: Readonly<Record<string, number>> = {};
    const writes = await eventually(
      () => `the log has ${most} writes that succeeded, not just ${JSON.stringify(done)}`,
      async () => {
        const all = await writesOfHeadroom();
        const succeeded = all.filter((event) => codeOf(event) < 400);
        done = count(succeeded.map(kindOf));
        return succeeded.length >= most && all;
      },
    );
    expect(done).toEqual(ONCE);
    const updated = writes.filter((event) => event.verb === 'update' && codeOf(event) < 400);
    expect(count(updated.map(({ objectRef }) => objectRef?.name ?? ''))).toEqual(
      Object.fromEntries(namespaces.map((namespace) => [`state-${namespace}-${QUOTA}`, 5])),
    );

    // An attempt that counts as lost and still runs meets the one that repeats it: the later write is refused and changes
    // nothing. In an episode without a repeated attempt nothing is refused.
    const refused = writes.filter((event) => codeOf(event) >= 400);
    const repeated = new Set<string>();
    for (const namespace of new Set(refused.map(writerOf))) {
      if (namespaces.includes(namespace) && (await hasRepeated(stack, namespace))) repeated.add(namespace);
    }
    const isOvertaken = (event: AuditEvent): boolean =>
      repeated.has(writerOf(event)) && (codeOf(event) === 409 || (codeOf(event) === 404 && event.verb === 'delete'));
    expect(
      refused
        .filter((event) => !isOvertaken(event))
        .map((event) => `${codeOf(event)} ${event.verb} ${event.requestURI}`),
    ).toEqual([]);
  });

  it('needed no permission that worker and starter do not have', async () => {
    const refused = (await eventsOfHeadroom()).filter(
      ({ annotations, responseStatus }) =>
        annotations?.['authorization.k8s.io/decision'] === 'forbid' || responseStatus?.code === 403,
    );
    expect(refused.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)).toEqual([]);
  });

  it('needed every permission of the starter', async () => {
    const objects = (await templateObjects('rbac', 'quota-resize/rbac')) as readonly V1ClusterRole[];
    const roles = objects.filter(
      ({ kind, metadata }) => kind?.endsWith('Role') && metadata?.name?.startsWith('headroom-starter') === true,
    );
    const allowed = roles.flatMap(({ rules = [] }) =>
      rules.flatMap(({ verbs, resources = [], apiGroups = [] }) =>
        verbs.flatMap((verb) =>
          resources.flatMap((resource) => apiGroups.map((group) => `${verb} ${resource} ${group}`)),
        ),
      ),
    );
    const used = new Set(
      (await eventsOfHeadroom())
        .filter(({ user }) => user.username === 'headroom-starter')
        .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.apiGroup ?? ''}`),
    );
    expect(allowed.length).toBeGreaterThan(0);
    expect(allowed.filter((rule) => !used.has(rule))).toEqual([]);
  });
});
