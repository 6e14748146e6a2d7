import { describe, expect, it } from 'vitest';
import type { ObserveScheduleInput } from '../../../activities/lights-out/interface.ts';
import {
  DOWN_SINCE,
  FIELD_MANAGER,
  GROUP,
  KIND,
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  SLEEP_UNTIL,
  VERSION,
} from '../../../domain/lights-out/schedule/names.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { packItems } from '../../../domain/lights-out/decide/packed.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  batchOf,
  type Cluster,
  cronJobOf,
  essence,
  observeInputOf,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  planOf,
  scaled,
  targetOf,
  WORKER,
  workloadOf,
} from './cluster.ts';
import { startKeepingWebhook } from './keeping-webhook.ts';

/** Puts workloads to sleep, and wakes them. */
export function scalingTests(cluster: () => Cluster): void {
  /** What the worker wrote in a namespace, once so much is in the audit log; what met another version was not written. */
  async function writes(namespace: string, expected: number): Promise<readonly string[]> {
    return await eventually(`${expected} writes in ${namespace} are in the audit log`, async () => {
      const found = (await cluster().plane.auditEvents())
        .filter(
          ({ verb, user, responseStatus }) =>
            verb === 'patch' && user.username === WORKER && responseStatus?.code === 200,
        )
        .filter(({ objectRef }) => objectRef?.namespace === namespace)
        .map(({ objectRef }) => `${objectRef?.resource}/${objectRef?.name}`);
      return found.length >= expected && found.toSorted();
    });
  }

  async function versions(objects: readonly object[]): Promise<readonly (string | undefined)[]> {
    return await Promise.all(objects.map(async (given) => (await cluster().read(given)).metadata?.resourceVersion));
  }

  /** CronJobs only change when somebody writes them; the others also when their controllers count pods. */
  async function generations(objects: readonly object[]): Promise<readonly (number | undefined)[]> {
    return await Promise.all(objects.map(async (given) => (await cluster().read(given)).metadata?.generation));
  }

  describe('putting workloads to sleep', () => {
    it('takes one write for each of them, and so does waking them exactly as they were', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'round';
      const own = { labels: { team: 'a' }, annotations: { note: 'ours', [`${GROUP}/priority`]: '5' } };
      const objects = [
        workloadOf('Deployment', ns, 'web', 3, own),
        workloadOf('Deployment', ns, 'implicit'),
        workloadOf('StatefulSet', ns, 'db', 2),
        cronJobOf(ns, 'report', { suspend: false }),
        cronJobOf(ns, 'bare'),
      ];
      const resting = [workloadOf('Deployment', ns, 'off', 0), cronJobOf(ns, 'held', { suspend: true })];
      await create([namespaceOf(ns), ...objects, ...resting]);
      await schedule(ns, { namespaces: [ns] });
      const before = await Promise.all([...objects, ...resting].map(read));

      const down = await scaled(at(NIGHT), observeInputOf(ns));
      expect(down.done).toBe(5);
      const savedState = { [MANAGED_BY]: ns, [DOWN_SINCE]: formatInstant(NIGHT) };
      const asleep = await Promise.all(objects.map(read));
      expect(asleep.map(({ spec }) => [spec.replicas, spec.suspend])).toEqual([
        [0, undefined],
        [0, undefined],
        [0, undefined],
        [undefined, true],
        [undefined, true],
      ]);
      expect(asleep[0]?.metadata?.annotations).toMatchObject({
        ...own.annotations,
        ...savedState,
        [ORIGINAL_REPLICAS]: '3',
      });
      expect(asleep[1]?.metadata?.annotations).toMatchObject({ ...savedState, [ORIGINAL_REPLICAS]: '1' });
      expect(asleep[2]?.metadata?.annotations).toMatchObject({ ...savedState, [ORIGINAL_REPLICAS]: '2' });
      expect(asleep[3]?.metadata?.annotations).toMatchObject({ ...savedState, [ORIGINAL_SUSPEND]: 'lightsout' });
      expect(asleep.map(({ metadata }) => metadata?.labels?.[MANAGED_BY])).toEqual([ns, ns, ns, ns, ns]);
      expect((await Promise.all(resting.map(read))).map(essence)).toEqual(before.slice(objects.length).map(essence));

      const night = planOf(await at(NIGHT).observeSchedule(observeInputOf(ns)));
      expect(night).toMatchObject({
        items: [],
        stats: { deploymentsScaled: 2, cronjobsSuspended: 2 },
        namespaces: [ns],
      });
      const up = await scaled(at(MORNING), observeInputOf(ns));
      expect(up.done).toBe(5);
      const after = await Promise.all([...objects, ...resting].map(read));
      // The API server itself fills in what a CronJob leaves out, so nothing of it is left out before either.
      expect(after.map(essence)).toEqual(before.map(essence));
      const written = [
        'cronjobs/bare',
        'cronjobs/report',
        'deployments/implicit',
        'deployments/web',
        'statefulsets/db',
      ];
      expect(await writes(ns, 10)).toEqual([...written, ...written].toSorted());
    });

    it('twice with the same batch changes nothing the second time, in both directions', async () => {
      const { at, create, schedule } = cluster();
      const ns = 'repeated';
      const objects = [
        workloadOf('Deployment', ns, 'web', 3),
        workloadOf('StatefulSet', ns, 'db', 2),
        cronJobOf(ns, 'report'),
      ];
      await create([namespaceOf(ns), ...objects]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      for (const moment of [NIGHT, MORNING]) {
        const activities = at(moment);
        const observeInput = observeInputOf(ns);
        const { items } = planOf(await activities.observeSchedule(observeInput));
        expect(items).toHaveLength(3);
        const batch = { target: targetOf(ns), scheduleUid, items: packItems(items), observeInput };
        const first = await activities.ensureScaled(batch);
        const written = await generations(objects);
        const cronJob = await versions(objects.slice(2));
        expect(first.outcomes).toEqual([]);
        expect(Object.keys(first.versions).toSorted()).toEqual(['cronjobs', 'deployments', 'statefulsets']);
        expect(await activities.ensureScaled(batch)).toEqual({ versions: {}, outcomes: [] });
        expect(await generations(objects)).toEqual(written);
        expect(await versions(objects.slice(2))).toEqual(cronJob);
      }
      expect(await writes(ns, 6)).toHaveLength(6);
    });

    it('keeps what somebody else writes between the observation and the write', async () => {
      const { at, change, create, read, schedule, admin } = cluster();
      const ns = 'between';
      const [web, scaledDown, gone, moved] = ['web', 'scaled-down', 'gone', 'moved'].map((name) =>
        workloadOf('Deployment', ns, name, 3),
      ) as [object, object, object, object];
      await create([namespaceOf(ns), web, scaledDown, gone, moved]);
      const scheduleUid = await schedule(ns, { namespaces: [ns], excludeLabels: { matchLabels: { awake: 'yes' } } });
      const observeInput = observeInputOf(ns);
      const activities = at(NIGHT);
      const { items } = planOf(await activities.observeSchedule(observeInput));
      expect(items).toHaveLength(4);

      await change(web, { metadata: { labels: { release: '2' } }, spec: { replicas: 5 } });
      await change(scaledDown, { spec: { replicas: 0 } });
      await change(moved, { metadata: { labels: { awake: 'yes' } } });
      await admin.apps.deleteNamespacedDeployment({ name: 'gone', namespace: ns });
      const { outcomes } = await activities.ensureScaled({
        target: targetOf(ns),
        scheduleUid,
        items: packItems(items),
        observeInput,
      });
      expect(Object.fromEntries(outcomes.map(({ workload, kind, detail }) => [workload, detail ?? kind]))).toEqual({
        [`Deployment ${ns}/gone`]: 'gone',
        [`Deployment ${ns}/moved`]: 'AsDesired',
      });
      const { metadata, spec } = await read(web);
      expect(metadata).toMatchObject({ labels: { release: '2' }, annotations: { [ORIGINAL_REPLICAS]: '5' } });
      expect(spec.replicas).toBe(0);
      // Kubernetes' own annotation may not be there yet either.
      expect((await read(scaledDown)).metadata?.annotations?.[ORIGINAL_REPLICAS]).toBeUndefined();
      expect((await read(moved)).spec.replicas).toBe(3);
    });

    it('does not put to sleep with an old batch what is to be awake by now', async () => {
      const { at, change, create, read, schedule } = cluster();
      const ns = 'late';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await at(NIGHT).observeSchedule(observeInput));
      await change(web, { metadata: { labels: { changed: 'yes' } } });
      const { outcomes } = await at(MORNING).ensureScaled({
        target: targetOf(ns),
        scheduleUid,
        items: packItems(items),
        observeInput,
      });
      expect(outcomes).toEqual([{ workload: `Deployment ${ns}/web`, kind: 'skipped', detail: 'AsDesired' }]);
      expect((await read(web)).spec.replicas).toBe(3);
    });

    it('does not put to sleep with an old batch what has to be approved by now, and wakes all the same', async () => {
      const { at, change, create, read, schedule } = cluster();
      const ns = 'approval-late';
      const [first, second] = [workloadOf('Deployment', ns, 'first', 3), workloadOf('Deployment', ns, 'second', 3)];
      await create([namespaceOf(ns), first, second]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await at(NIGHT).observeSchedule(observeInput));
      const batchWith = (some: typeof items) => ({
        target: targetOf(ns),
        scheduleUid,
        items: packItems(some),
        observeInput,
      });
      expect((await at(NIGHT).ensureScaled(batchWith(items.slice(0, 1)))).outcomes).toEqual([]);
      const itself = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name: ns } };
      await change(itself, { spec: { requireApproval: true } });
      const { outcomes } = await at(NIGHT).ensureScaled(batchWith(items.slice(1)));
      expect(outcomes).toEqual([{ workload: `Deployment ${ns}/second`, kind: 'skipped', detail: 'NotApproved' }]);
      expect((await read(second)).spec.replicas).toBe(3);
      const morning = planOf(await at(MORNING).observeSchedule(observeInput));
      expect((await at(MORNING).ensureScaled(batchWith(morning.items))).outcomes).toEqual([]);
      expect((await read(first)).spec.replicas).toBe(3);
    });

    it('wakes nothing with an old batch of the night, and says that the schedule wakes it now', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'repeated-late';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await at(NIGHT).observeSchedule(observeInput));
      const batch = { target: targetOf(ns), scheduleUid, items: packItems(items), observeInput };
      expect((await at(NIGHT).ensureScaled(batch)).outcomes).toEqual([]);
      const { outcomes } = await at(MORNING).ensureScaled(batch);
      const detail = 'the schedule wakes it now (Up)';
      expect(outcomes).toEqual([{ workload: `Deployment ${ns}/web`, kind: 'skipped', detail }]);
      const { metadata, spec } = await read(web);
      expect(spec.replicas).toBe(0);
      expect(metadata?.annotations).toMatchObject({ [ORIGINAL_REPLICAS]: '3' });
    });

    it('judges a Deployment of the same name that was created since the observation as what it is', async () => {
      const { admin, at, create, read, schedule } = cluster();
      const ns = 'recreated';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const seen = await at(NIGHT).observeSchedule(observeInput);
      const batch = batchOf(seen, planOf(seen).items, observeInput);
      await admin.apps.deleteNamespacedDeployment({ name: 'web', namespace: ns });
      await create([workloadOf('Deployment', ns, 'web', 5)]);
      expect((await at(NIGHT).ensureScaled(batch)).outcomes).toEqual([]);
      const { metadata, spec } = await read(web);
      expect([spec.replicas, metadata?.annotations?.[ORIGINAL_REPLICAS]]).toEqual([0, '5']);
    });

    it('of one that an admission policy denies fails with its words, and holds up no other', async () => {
      const { admin, at, change, create, read, schedule } = cluster();
      const ns = 'denied';
      const names = ['a', 'b', 'c'];
      const objects = names.map((name) => workloadOf('Deployment', ns, name, 2));
      await create([namespaceOf(ns, { denied: 'yes' }), ...objects]);
      await schedule(ns, { namespaces: [ns] });
      const metadata = { name: 'no-sleep' };
      await create([
        {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicy',
          metadata,
          spec: {
            matchConstraints: {
              resourceRules: [
                { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] },
              ],
            },
            validations: [
              { expression: "object.metadata.name != 'b' || object.spec.replicas == 2", message: 'b never sleeps' },
            ],
          },
        },
        {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicyBinding',
          metadata,
          spec: {
            policyName: 'no-sleep',
            validationActions: ['Deny'],
            matchResources: { namespaceSelector: { matchLabels: { denied: 'yes' } } },
          },
        },
      ]);
      await eventually('the policy denies', async () => {
        try {
          await change(objects[1] ?? {}, { spec: { replicas: 3 } });
          return false;
        } catch (error) {
          return String(error).includes('b never sleeps');
        }
      });
      await change(objects[1] ?? {}, { spec: { replicas: 2 } });

      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      const detail = expect.stringContaining('b never sleeps');
      expect(outcomes).toEqual([{ workload: `Deployment ${ns}/b`, kind: 'failed', detail }]);
      const failing = { failing: [`Deployment ${ns}/b`] };
      expect(planOf(await at(NIGHT).observeSchedule(observeInputOf(ns, failing))).items).toHaveLength(1);

      await admin.custom.deleteClusterCustomObject({
        group: 'admissionregistration.k8s.io',
        version: 'v1',
        plural: 'validatingadmissionpolicybindings',
        name: 'no-sleep',
      });
      await eventually('the workload is put to sleep after all', async () => {
        const again = await scaled(at(NIGHT), observeInputOf(ns, failing));
        return again.outcomes.length === 0;
      });
      expect((await read(objects[1] ?? {})).spec.replicas).toBe(0);
    });

    it('of one that an admission webhook keeps up fails each time and says so, until the webhook is gone', async () => {
      const { admin, at, change, create, read, schedule } = cluster();
      const ns = 'kept-up';
      const [web, other] = ['web', 'other'].map((name) => workloadOf('Deployment', ns, name, 3)) as [object, object];
      const webhook = await startKeepingWebhook(3, 'kept');
      try {
        await create([namespaceOf(ns, { kept: 'yes' }), web, webhook.configuration]);
        await eventually('the webhook is asked', async () => {
          await change(web, { spec: { replicas: 2 } });
          return (await read(web)).spec.replicas === 3;
        });
        await schedule(ns, { namespaces: [ns] });
        const name = `Deployment ${ns}/web`;
        const detail = 'accepted, but something set spec.replicas back to 3: an admission webhook or policy';
        for (const failing of [[], [name], [name]]) {
          const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns, { failing }));
          expect(outcomes).toEqual([{ workload: name, kind: 'failed', detail }]);
        }
        await admin.custom.deleteClusterCustomObject({
          group: 'admissionregistration.k8s.io',
          version: 'v1',
          plural: 'mutatingwebhookconfigurations',
          name: 'keeps-replicas',
        });
        await create([other]);
        await eventually('the webhook is asked no more', async () => {
          await change(other, { spec: { replicas: 2 } });
          return (await read(other)).spec.replicas === 2;
        });
        const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns, { failing: [name] }));
        expect(outcomes).toEqual([]);
        expect((await read(web)).spec.replicas).toBe(0);
        await scaled(at(MORNING), observeInputOf(ns));
        expect((await read(web)).spec.replicas).toBe(3);
      } finally {
        await webhook.stop();
      }
    });

    it('is taken back in the morning also where an older revision took the annotations away, and by day not again', async () => {
      const { at, change, create, read, schedule } = cluster();
      const ns = 'undone';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      const before = essence(await read(web));
      await scaled(at(NIGHT), observeInputOf(ns));
      const { annotations, labels } = (await read(web)).metadata ?? {};
      expect(labels).toMatchObject({ [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: ns });
      const savedState = [ORIGINAL_REPLICAS, MANAGED_BY, DOWN_SINCE];
      await change(web, { metadata: { annotations: Object.fromEntries(savedState.map((key) => [key, null])) } });
      const { outcomes } = await scaled(at(MORNING), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      expect(essence(await read(web))).toEqual(before);

      // Back to the revision of that night, after somebody set another number.
      await change(web, { metadata: { annotations }, spec: { replicas: 1 } });
      expect(planOf((await scaled(at(MORNING), observeInputOf(ns))).seen).items).toMatchObject([
        { reason: 'Released' },
      ]);
      const after = await read(web);
      expect(after.spec.replicas).toBe(1);
      expect(Object.keys(after.metadata?.annotations ?? {}).filter((key) => savedState.includes(key))).toEqual([]);
    });

    it('is done by the field manager of Headroom alone, which owns the annotations and the replicas', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'owned';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      const entry = (await read(web)).metadata?.managedFields?.find(({ manager }) => manager === FIELD_MANAGER);
      expect(entry?.fieldsV1).toMatchObject({
        'f:spec': { 'f:replicas': {} },
        'f:metadata': { 'f:annotations': { [`f:${ORIGINAL_REPLICAS}`]: {} } },
      });
    });
  });

  describe('what changes at night', () => {
    /** A schedule that sleeps from now on, by a command, so that what people do afterwards is later. */
    async function asleep(name: string, objects: readonly object[]): Promise<ObserveScheduleInput> {
      const { at, create, schedule } = cluster();
      await create([namespaceOf(name), ...objects], 'helm');
      await schedule(name, { namespaces: [name] });
      const since = Date.now() + 1;
      const override = {
        kind: 'sleep',
        namespace: null,
        since,
        until: since + 3_600_000,
        by: 'jane',
        reason: '',
      } as const;
      const observeInput = observeInputOf(name, { overrides: [override] });
      // The managed fields have whole seconds.
      await eventually(
        'the clock is in the next second',
        () => Math.floor(Date.now() / 1000) > Math.floor(since / 1000),
      );
      await scaled(at(), observeInput);
      return observeInput;
    }

    async function scaleTo(namespace: string, name: string, replicas: number, fieldManager: string): Promise<void> {
      const { apps } = cluster().admin;
      const body = { spec: { replicas } };
      await apps.patchNamespacedDeploymentScale({ name, namespace, fieldManager, body }, MERGE_PATCH);
    }

    it('by a person through /scale is respected, and by Argo CD is put to sleep again', async () => {
      const ns = 'scaled-by';
      const [person, gitops] = ['person', 'gitops'].map((name) => workloadOf('Deployment', ns, name, 2)) as [
        object,
        object,
      ];
      const observeInput = await asleep(ns, [person, gitops]);
      const { at, read } = cluster();
      expect((await read(person)).spec.replicas).toBe(0);
      await scaleTo(ns, 'person', 4, 'kubectl');
      await scaleTo(ns, 'gitops', 2, 'argocd-controller');

      const { outcomes, seen } = await scaled(at(), observeInput);
      expect(outcomes).toEqual([]);
      expect(planOf(seen).items).toMatchObject([{ reason: 'DownAgain', manager: 'argocd-controller' }]);
      expect(planOf(seen).notes).toMatchObject([{ workload: `Deployment ${ns}/person`, reason: 'ChangedByPerson' }]);
      expect((await read(gitops)).spec.replicas).toBe(0);
      expect((await read(person)).spec.replicas).toBe(4);

      // Waking takes no pods away, and gives the other what it had.
      await scaled(at(Date.parse(`${new Date(NIGHT).toISOString().slice(0, 10)}T12:00:00Z`)), observeInputOf(ns));
      expect((await read(person)).spec.replicas).toBe(4);
      expect((await read(gitops)).spec.replicas).toBe(2);
    });

    it('by a person who creates it is respected also where an annotation of its namespace says that it is night', async () => {
      const { admin, at, create, read, schedule } = cluster();
      const ns = 'annotated';
      const namespace = namespaceOf(ns);
      await create([namespace]);
      // By its crons it is always awake.
      await schedule(ns, { namespaces: [ns], upscale: '* * * * *', downscale: '0 0 1 1 *' });
      const until = formatInstant(Date.now() + 3_600_000);
      const body = { metadata: { annotations: { [SLEEP_UNTIL]: until } } };
      await admin.core.patchNamespace({ name: ns, body, fieldManager: 'kubectl-annotate' }, MERGE_PATCH);
      const { metadata } = await read(namespace);
      const written = metadata?.managedFields?.find(({ manager }) => manager === 'kubectl-annotate')?.time;
      const second = Math.floor(new Date(written ?? 0).getTime() / 1000);
      await eventually('the clock is in the next second', () => Math.floor(Date.now() / 1000) > second);
      const objects = ['person', 'gitops'].map((name) => workloadOf('Deployment', ns, name, 2)) as [object, object];
      await create([objects[0]], 'kubectl-create');
      await create([objects[1]], 'argocd-controller');
      const { seen } = await scaled(at(), observeInputOf(ns));
      expect(planOf(seen).items.map(({ workload }) => workload.name)).toEqual(['gitops']);
      expect(planOf(seen).notes).toMatchObject([{ workload: `Deployment ${ns}/person`, reason: 'ChangedByPerson' }]);
      expect((await read(objects[0])).spec.replicas).toBe(2);
      expect((await read(objects[1])).spec.replicas).toBe(0);
    });

    it('by a person between the observation and the write is respected as well', async () => {
      const ns = 'in-between';
      const web = workloadOf('Deployment', ns, 'web', 2);
      const observeInput = await asleep(ns, [web]);
      const { at, read } = cluster();
      await scaleTo(ns, 'web', 2, 'argocd-controller');
      const seen = await at().observeSchedule(observeInput);
      const { items } = planOf(seen);
      expect(items).toHaveLength(1);
      await eventually('the clock is in the next second', () => Date.now() > seen.at + 1_000);
      await scaleTo(ns, 'web', 5, 'kubectl');
      const batch = {
        target: targetOf(ns),
        scheduleUid: seen.schedule?.uid ?? '',
        items: packItems(items),
        observeInput,
      };
      const { outcomes } = await at().ensureScaled(batch);
      expect(outcomes).toMatchObject([
        { kind: 'skipped', detail: expect.stringContaining('kubectl gave it 5 replicas') },
      ]);
      expect((await read(web)).spec.replicas).toBe(5);
    });
  });
}
