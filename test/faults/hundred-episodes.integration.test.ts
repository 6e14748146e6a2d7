import { readFile } from 'node:fs/promises';
import type { V1ClusterRole } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLeaseMemory } from '../../domain/quota-resize/lease.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { namespaceFiles, press, QUOTA, quickTimings } from './pressed-namespaces.ts';

const namespaces = Array.from({ length: 100 }, (_, index) => `team-${String(index).padStart(3, '0')}`);
/** Ten times what it takes here on two cores (seconds). */
const PATIENCE_MS = 300_000;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(namespaces),
    // With webhooks, for which the starter reads Leases: every permission that it has is to be needed.
    env: { ...quickTimings, WEBHOOK_ADDRESS: '127.0.0.1:0', GITHUB_WEBHOOK_SECRET: 'not-used-here' },
    workers: 2,
    starters: 2,
  });
  await eventually('the cluster has all hundred quotas', async () => (await secretLimits()).length === 100);
});

afterAll(async () => {
  await stack?.stop();
});

async function secretLimits(): Promise<readonly string[]> {
  const { items } = await stack.core.listResourceQuotaForAllNamespaces();
  return items.filter(({ metadata }) => metadata?.name === QUOTA).map(({ spec }) => spec?.hard?.['secrets'] ?? '');
}

/** What worker and starter wrote to the API server. */
async function writesOfHeadroom(): Promise<readonly AuditEvent[]> {
  const reads = new Set(['get', 'list', 'watch']);
  return (await eventsOfHeadroom()).filter(({ verb }) => !reads.has(verb));
}

async function eventsOfHeadroom(): Promise<readonly AuditEvent[]> {
  return (await stack.controlPlane.auditEvents()).filter(({ user }) => user.username.startsWith('headroom-'));
}

function count(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

describe('a hundred quotas under pressure at once, with two workers and two starters', () => {
  it(
    'are all raised, each by one pull request',
    async () => {
      const started = Date.now();
      await Promise.all(namespaces.map(async (namespace) => await press(stack, namespace)));
      await eventually(
        'all are raised',
        async () => (await secretLimits()).every((limit) => limit === '2'),
        PATIENCE_MS,
      );
      await eventually('every decision is over', async () => {
        const { items } = await stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
        return items.length === 100 && items.every((lease) => readLeaseMemory(lease).memory.decision === null);
      });
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      process.stdout.write(`a hundred episodes took ${seconds} s and ${stack.forge.requests} requests to GitHub\n`);

      const perDecision = new Map<string, string[]>();
      for (const { branch = '', method, path, effect } of stack.forge.writes) {
        // A worker that starves for ten seconds counts as lost, and what it had done is looked for by being asked for again.
        if (!effect) continue;
        const what = `${method} ${path.replace(/^\/repos\/acme\/gitops\//, '').replace(/\/.*/, '')}`;
        perDecision.set(branch, [...(perDecision.get(branch) ?? []), what]);
      }
      expect([...perDecision.keys()].map((branch) => branch.split('/')[2] ?? '').toSorted()).toEqual(namespaces);
      const oneOfEach = ['POST git', 'PUT contents', 'POST pulls', 'PUT pulls', 'DELETE git'];
      for (const [branch, writes] of perDecision) expect({ branch, writes }).toEqual({ branch, writes: oneOfEach });
    },
    PATIENCE_MS,
  );

  it('are one write for each step of each decision in the log of the API server', async () => {
    const writes = await writesOfHeadroom();
    const refused = writes.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400);
    expect(
      refused.map(({ verb, requestURI, responseStatus }) => `${responseStatus?.code} ${verb} ${requestURI}`),
    ).toEqual([]);
    expect(
      count(
        writes.map(({ verb, objectRef }) => {
          const name = objectRef?.name?.startsWith('file-') ? ' of a file' : '';
          return `${verb} ${objectRef?.resource}${name}`;
        }),
      ),
    ).toEqual({
      'create leases of a file': 100,
      'create leases': 100,
      // The pull request, the merge, the sync.
      'update leases': 300,
      'delete leases of a file': 100,
      // The recommendation and the merge.
      'create events': 200,
    });
    expect(count(writes.filter(({ verb }) => verb === 'update').map(({ objectRef }) => objectRef?.name ?? ''))).toEqual(
      Object.fromEntries(namespaces.map((namespace) => [`state-${namespace}-${QUOTA}`, 3])),
    );
  });

  it('needed no permission that worker and starter do not have', async () => {
    const refused = (await eventsOfHeadroom()).filter(
      ({ annotations, responseStatus }) =>
        annotations?.['authorization.k8s.io/decision'] === 'forbid' || responseStatus?.code === 403,
    );
    expect(refused.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)).toEqual([]);
  });

  it('needed every permission of the starter', async () => {
    const documents = parseAllDocuments(await readFile(new URL('../../deploy/rbac.yaml', import.meta.url), 'utf8'));
    const roles = documents
      .map((document) => document.toJS() as V1ClusterRole)
      .filter(({ kind, metadata }) => kind?.endsWith('Role') && metadata?.name === 'headroom-starter');
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
