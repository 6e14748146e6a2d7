import { packItems } from '../../../domain/lights-out/decide/packed.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { LightsOutActivities } from '../../../activities/lights-out/interface.ts';
import { GROUP, MANAGED_BY, MEMORY_OF, ORIGINAL_REPLICAS } from '../../../domain/lights-out/schedule/names.ts';
import type { Override } from '../../../domain/lights-out/schedule/override.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { headroom } from '../../starter/run-program.ts';
import {
  type Cluster,
  cronJobOf,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  observeInputOf,
  planOf,
  scaled,
  SYSTEM_NAMESPACE,
  targetOf,
  WORKER,
  workloadOf,
} from './cluster.ts';
import { type KeepingWebhook, startStrippingWebhook } from './keeping-webhook.ts';

/** What Headroom keeps of a sleeping workload outside of it. */
export function memoryTests(cluster: () => Cluster): void {
  /** Takes everything that a schedule wrote off an object, as a tool does that replaces its metadata. */
  async function strip(object: object, manager = 'team-operator'): Promise<void> {
    const { read, change } = cluster();
    const { metadata } = await read(object);
    const none = (all: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(Object.keys(all).flatMap((key) => (key.startsWith(`${GROUP}/`) ? [[key, null]] : [])));
    const bare = { annotations: none(metadata?.annotations), labels: none(metadata?.labels) };
    await change(object, { metadata: bare }, manager);
  }

  /** The entries of a schedule, by the name of the workload. */
  async function entries(schedule: string): Promise<Readonly<Record<string, unknown>>> {
    const { items } = await cluster().admin.core.listNamespacedConfigMap({
      namespace: SYSTEM_NAMESPACE,
      labelSelector: `${MEMORY_OF}=${schedule}`,
    });
    const texts = items.flatMap(({ data = {} }) => Object.values(data));
    return Object.fromEntries(
      texts.map((text) => {
        const { name, original, level } = JSON.parse(text) as Record<string, unknown>;
        return [String(name), { original, level }];
      }),
    );
  }

  function override(kind: Override['kind']): Override {
    const since = Date.now();
    return { kind, namespace: null, since, until: since + 3_600_000, by: 'jane', reason: '' };
  }

  async function nextSecond(): Promise<void> {
    const second = Math.floor(Date.now() / 1000);
    await eventually('the next second', () => Math.floor(Date.now() / 1000) > second);
  }

  /** Refuses every ConfigMap that is created in Headroom's namespace while something is done. */
  async function withoutConfigMaps(work: () => Promise<void>): Promise<void> {
    const { admin, create } = cluster();
    const metadata = { name: 'no-memory' };
    const [apiVersion, namespace] = ['admissionregistration.k8s.io/v1', SYSTEM_NAMESPACE];
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const validations = [{ expression: `object.metadata.namespace != '${namespace}'`, message: 'no memory for now' }];
    const matchConstraints = { resourceRules };
    await create([
      { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec: { matchConstraints, validations } },
      {
        apiVersion,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata,
        spec: { policyName: 'no-memory', validationActions: ['Deny'] },
      },
    ]);
    const isRefused = async (): Promise<boolean> =>
      await admin.core
        .createNamespacedConfigMap({ namespace, body: { metadata: { name: 'probe' } }, dryRun: 'All' })
        .then(
          () => false,
          (error: unknown) => String(error).includes('no memory for now'),
        );
    try {
      await eventually('the policy holds', isRefused);
      await work();
    } finally {
      await remove('validatingadmissionpolicybindings', 'no-memory');
      await eventually('the policy is off', async () => !(await isRefused()));
    }
  }

  async function remove(plural: string, name: string): Promise<void> {
    const group = 'admissionregistration.k8s.io';
    await cluster().admin.custom.deleteClusterCustomObject({ group, version: 'v1', plural, name });
  }

  async function notes(activities: LightsOutActivities, schedule: string): Promise<readonly string[]> {
    const { plan } = await activities.observeSchedule(observeInputOf(schedule));
    return (plan?.notes ?? []).map(({ workload, reason, detail }) => `${reason} ${workload}: ${detail}`);
  }

  describe('a workload whose marks were lost in the night', () => {
    it('is woken from the memory exactly to what it was, and the memory is empty by day', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'stripped';
      const objects = [
        workloadOf('Deployment', ns, 'web', 3),
        workloadOf('StatefulSet', ns, 'db', 2),
        cronJobOf(ns, 'report'),
      ];
      await create([namespaceOf(ns), ...objects]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      expect(await entries(ns)).toEqual({
        web: { original: '3', level: 0 },
        db: { original: '2', level: 0 },
        report: { original: 'lightsout', level: null },
      });
      for (const object of objects) await strip(object);

      const night = await at(NIGHT).observeSchedule(observeInputOf(ns));
      expect(planOf(night)).toMatchObject({ items: [], stats: { deploymentsScaled: 1, cronjobsSuspended: 1 } });
      expect(await notes(at(NIGHT), ns)).toContain(
        `MarkLost Deployment ${ns}/web: somebody removed its marks. Headroom wakes it to what its memory says: 3 replicas`,
      );
      await scaled(at(MORNING), observeInputOf(ns));
      const awake = await Promise.all(objects.map(read));
      expect(awake.map(({ spec }) => spec.replicas ?? spec.suspend)).toEqual([3, 2, false]);
      expect(await entries(ns)).toEqual({});
    });

    it('is left where a person wrote it since, or it is another object, or it is not at the replicas of the night', async () => {
      const { admin, at, change, create, read, schedule } = cluster();
      const ns = 'not-recalled';
      const [persons, anew, gits] = ['persons', 'anew', 'gits'].map((name) =>
        workloadOf('Deployment', ns, name, 3),
      ) as [object, object, object];
      await create([namespaceOf(ns), persons, anew, gits]);
      await schedule(ns, { namespaces: [ns] });
      // In the present: what a person writes afterwards is later than that.
      await scaled(at(), observeInputOf(ns, { overrides: [override('sleep')] }));
      await nextSecond();
      for (const object of [persons, gits]) await strip(object);
      await change(persons, { spec: { replicas: 1 } });
      await change(persons, { spec: { replicas: 0 } });
      await change(gits, { spec: { replicas: 1 } }, 'argocd-controller');
      await admin.apps.deleteNamespacedDeployment({ name: 'anew', namespace: ns });
      await eventually('it is gone', async () => {
        const { items } = await admin.apps.listNamespacedDeployment({ namespace: ns });
        return items.every(({ metadata }) => metadata?.name !== 'anew');
      });
      await create([workloadOf('Deployment', ns, 'anew', 0)]);
      await scaled(at(), observeInputOf(ns, { overrides: [override('wake')] }));
      const replicas = await Promise.all(
        [persons, anew, gits].map(async (object) => (await read(object)).spec.replicas),
      );
      expect(replicas).toEqual([0, 0, 1]);
    });

    it('does not matter where the mark is there: the mark is followed, and it is said that the memory differs', async () => {
      const { at, change, create, read, schedule } = cluster();
      const ns = 'two-numbers';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      await change(web, { metadata: { annotations: { [ORIGINAL_REPLICAS]: '5' } } });
      expect(await notes(at(NIGHT), ns)).toEqual([
        `MarkDiffers Deployment ${ns}/web: its mark says 5 replicas, and Headroom's memory 3 replicas. Headroom follows the mark`,
      ]);
      await scaled(at(MORNING), observeInputOf(ns));
      expect((await read(web)).spec.replicas).toBe(5);
    });
  });

  describe('a policy that takes the marks off whatever is written', () => {
    let webhook: KeepingWebhook | undefined;
    afterEach(async () => {
      await webhook?.stop();
      webhook = undefined;
    });

    it('costs no workload its replicas, and is named', async () => {
      const { admin, at, create, read, schedule } = cluster();
      const ns = 'stripping';
      const web = workloadOf('Deployment', ns, 'web', 3);
      webhook = await startStrippingWebhook('strips');
      await create([namespaceOf(ns, { strips: 'yes' }), web, webhook.configuration]);
      await schedule(ns, { namespaces: [ns] });
      const isStripped = async (): Promise<boolean> => {
        const body = { metadata: { annotations: { [`${GROUP}/probe`]: 'x' } } };
        const answer = await admin.apps.patchNamespacedDeployment(
          { namespace: ns, name: 'web', body, dryRun: 'All' },
          MERGE_PATCH,
        );
        return answer.metadata?.annotations?.[`${GROUP}/probe`] === undefined;
      };
      await eventually('the webhook is asked', isStripped);
      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      const asleep = await read(web);
      expect([asleep.spec.replicas, asleep.metadata?.annotations?.[MANAGED_BY]]).toEqual([0, undefined]);
      expect(await notes(at(NIGHT), ns)).toEqual([expect.stringMatching(/^MarkLost .* 3 replicas/)]);
      await scaled(at(MORNING), observeInputOf(ns));
      expect((await read(web)).spec.replicas).toBe(3);
      await remove('mutatingwebhookconfigurations', 'strips-marks');
    });
  });

  describe('the memory', () => {
    it('is written before the workloads: where it cannot be, nothing is put to sleep', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'unremembered';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await at(NIGHT).observeSchedule(observeInput));
      const batch = { target: targetOf(ns), scheduleUid, items: packItems(items), observeInput };
      await withoutConfigMaps(async () => {
        expect((await at(NIGHT).ensureScaled(batch)).outcomes).toEqual([
          {
            workload: `Deployment ${ns}/web`,
            kind: 'failed',
            detail: expect.stringMatching(/no memory for now/) as string,
          },
        ]);
        expect((await read(web)).spec.replicas).toBe(3);
      });
      await at(NIGHT).ensureScaled(batch);
      expect((await read(web)).spec.replicas).toBe(0);
    });
  });

  describe('headroom lights-out restore', () => {
    it('wakes everything from the marks and the memory, with a kubeconfig and nothing else', async () => {
      const { at, create, plane, read, schedule } = cluster();
      const ns = 'restored';
      const objects = [
        workloadOf('Deployment', ns, 'marked', 3),
        workloadOf('Deployment', ns, 'stripped', 2),
        cronJobOf(ns, 'report'),
      ];
      await create([namespaceOf(ns), ...objects]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(), observeInputOf(ns, { overrides: [override('sleep')] }));
      await strip(objects[1] ?? {});
      const run = async (...args: string[]) =>
        await headroom(['lights-out', 'restore', ...args], { KUBECONFIG: plane.adminKubeconfig });
      const values = async () =>
        (await Promise.all(objects.map(read))).map(({ spec }) => spec.replicas ?? spec.suspend);

      const { code, stdout } = await run('--schedule', ns);
      expect(code).toBe(0);
      expect(stdout.split('\n')).toEqual([
        `CronJob ${ns}/report: resumed (${ns})`,
        `Deployment ${ns}/marked: 0 -> 3 (${ns})`,
        `Deployment ${ns}/stripped: 0 -> 2 (${ns}, from the memory)`,
        '3 workloads would be woken. Nothing was changed: add --yes to wake them.',
        '',
      ]);
      expect(await values()).toEqual([0, 0, true]);
      const all = JSON.parse((await run('--all', '--output', 'json')).stdout) as { namespace: string }[];
      expect(all.filter(({ namespace }) => namespace === ns)).toHaveLength(3);

      await nextSecond();
      expect(await run('--schedule', ns, '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect(await values()).toEqual([3, 2, false]);
      expect(await entries(ns)).toEqual({});
      expect((await run('--schedule', ns)).stdout).toMatch(
        /^Nothing in \S+ is asleep because of the schedule restored\./,
      );
      // Where Headroom is there after all, it leaves what a person woke.
      const later = await at().observeSchedule(observeInputOf(ns, { overrides: [override('sleep')] }));
      expect(planOf(later).items).toHaveLength(3);
    });

    it('asks which, and needs no more rights than the worker has', async () => {
      const { at, create, plane, read, schedule } = cluster();
      const ns = 'restore-refused';
      const web = workloadOf('Deployment', ns, 'web', 3);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      const worker = { KUBECONFIG: plane.kubeconfigFor(WORKER) };
      for (const which of [[], ['--all', '--schedule', ns]]) {
        const { code, stderr } = await headroom(['lights-out', 'restore', ...which], worker);
        expect([code, stderr]).toEqual([2, 'say what to wake: either --schedule dev-nights or --all\n']);
      }
      expect(await headroom(['lights-out', 'restore', '--schedule', ns, '--yes'], worker)).toMatchObject({ code: 0 });
      expect((await read(web)).spec.replicas).toBe(3);
    });
  });
}
