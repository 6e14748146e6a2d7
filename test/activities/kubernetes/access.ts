import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1ClusterRole } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { templateObjects } from '../../kernel/stack/chart.ts';
import { type Cluster, connect, namespaceOf, NOBODY, patience, targetOf, WORKER } from './cluster.ts';

/** What the API server says no to, and what the audit log says about the worker's role. */
export function accessTests(cluster: () => Cluster): void {
  describe('the role of the worker', () => {
    it('allows everything that the activities ask for, and has no rule that they do not use', async () => {
      const templates = ['rbac', 'quota-resize/rbac', 'quota-resize/deliveries-rbac'];
      const objects = (await templateObjects(...templates)) as readonly V1ClusterRole[];
      const names = ['headroom-worker', 'headroom-worker-quota-resize', 'headroom-quota-resize-deliveries-worker'];
      const roles = objects.filter(
        ({ kind, metadata }) => kind?.endsWith('Role') && names.includes(metadata?.name ?? ''),
      );
      const wanted = roles.flatMap((role) =>
        (role.rules ?? []).flatMap((rule) =>
          rule.verbs.flatMap((verb) =>
            (rule.apiGroups ?? []).flatMap((group) =>
              (rule.resources ?? []).map((resource) => `${verb} ${resource} ${group}`),
            ),
          ),
        ),
      );
      expect(wanted.length).toBeGreaterThan(20);
      await vi.waitFor(async () => {
        const events = (await cluster().plane.auditEvents()).filter((event) => event.user.username === WORKER);
        const refused = events.filter((event) => event.annotations?.['authorization.k8s.io/decision'] === 'forbid');
        expect(refused).toEqual([]);
        const used = new Set(
          events.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.apiGroup ?? ''}`),
        );
        expect(wanted.filter((rule) => !used.has(rule))).toEqual([]);
      }, patience);
    });
  });

  describe('an API server that says no', () => {
    it('to a user without the role is asked again in ten seconds, with the missing right in words', async () => {
      const activities = cluster().activities({ kubernetes: connect(cluster().plane.kubeconfigFor(NOBODY)) });
      await cluster().create(namespaceOf('access'));
      await expect(activities.observeQuota({ target: targetOf('access') })).rejects.toMatchObject({
        type: 'KubernetesForbidden',
        nonRetryable: false,
        nextRetryDelay: 10_000,
        message: expect.stringMatching(/cannot get resource .* in the namespace .*; .* roles of the chart allows it/),
      });
    });

    it('to an expired token is asked again, and answers as soon as the token is replaced', async () => {
      const { plane } = cluster();
      const kubeconfig = await readFile(plane.kubeconfigFor(WORKER), 'utf8');
      const file = join(plane.dir, 'expired.kubeconfig');
      await writeFile(file, kubeconfig.replace(/token: .*/, 'token: expired'));
      const activities = cluster().activities({ kubernetes: connect(file) });
      const target = targetOf('access');
      await expect(activities.observeQuota({ target })).rejects.toMatchObject({
        type: 'KubernetesUnavailable',
        nonRetryable: false,
        message: expect.stringContaining('refuses the credentials (401)'),
      });
      await writeFile(file, kubeconfig);
      // The server closes a connection that it refused a credential on, which the first new request may still meet.
      const seen = await vi.waitFor(() => activities.observeQuota({ target }), patience);
      expect(seen).toMatchObject({ namespace: 'present', quota: null });
    });

    it('by being away is retried, and is back when it is back', async () => {
      const { plane } = cluster();
      const activities = cluster().activities({ kubernetes: connect(plane.kubeconfigFor(WORKER)) });
      const target = targetOf('access');
      await plane.killApiServer();
      await expect(activities.observeQuota({ target })).rejects.toMatchObject({
        type: 'KubernetesUnavailable',
        nonRetryable: false,
      });
      await plane.startApiServer();
      const seen = await vi.waitFor(() => activities.observeQuota({ target }), patience);
      expect(seen).toMatchObject({ namespace: 'present', quota: null });
    });
  });
}
