/** What whoever schedules activities says of schedules, and what it gains: what sleeps, and why, is read where it is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINALIZER, MANAGED_BY, MEMORY_OF } from '../../../../domain/lights-out/schedule/names.ts';
import type { Override } from '../../../../domain/lights-out/schedule/override.ts';
import {
  batchOf,
  type Cluster,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  observeInputOf,
  planOf,
  scaled,
  SCHEDULES,
  startCluster,
  SYSTEM_NAMESPACE,
  targetOf,
  workloadOf,
} from '../cluster.ts';

const WAKING = /has to wake 1 workload first/;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.stop();
});

/** A schedule for a namespace of its name, with a Deployment of two replicas. */
async function scheduled(name: string, spec: object = {}) {
  const web = workloadOf('Deployment', name, 'web', 2);
  await cluster.create([namespaceOf(name), web]);
  const scheduleUid = await cluster.schedule(name, { namespaces: [name], ...spec });
  const target = targetOf(name);
  await cluster.at(NIGHT).ensureFinalizer({ target, scheduleUid, isPresent: true });
  return { web, given: { target, scheduleUid }, input: observeInputOf(name) };
}

async function finalizersOf(name: string): Promise<readonly string[] | undefined> {
  return (await cluster.readSchedule(name))?.metadata?.finalizers;
}

async function replicasOf(object: object): Promise<unknown> {
  return (await cluster.read(object)).spec.replicas;
}

/** The keys of what is kept of a schedule. */
async function keptOf(schedule: string): Promise<readonly string[]> {
  const { items } = await cluster.admin.core.listNamespacedConfigMap({
    namespace: SYSTEM_NAMESPACE,
    labelSelector: `${MEMORY_OF}=${schedule}`,
  });
  return items.flatMap(({ data = {} }) => Object.keys(data)).toSorted();
}

describe('the finalizer of a schedule', () => {
  it('stays while anything sleeps that it put to sleep, whatever is said of that', async () => {
    const name = 'asleep';
    const { web, given, input } = await scheduled(name);
    await scaled(cluster.at(NIGHT), input);
    await cluster.admin.custom.deleteClusterCustomObject({ ...SCHEDULES, name });
    const release = async () => await cluster.at(MORNING).ensureFinalizer({ ...given, isPresent: false });
    await expect(release()).rejects.toMatchObject({ type: 'PolicyChanged', nonRetryable: true });
    await expect(release()).rejects.toThrow(WAKING);
    // Where its marks are lost the memory knows it, and goes with the schedule.
    const { annotations = {}, labels = {} } = (await cluster.read(web)).metadata ?? {};
    const none = (all: object) => Object.fromEntries(Object.keys(all).map((key) => [key, null]));
    await cluster.change(web, { metadata: { annotations: none(annotations), labels: none(labels) } }, 'team-operator');
    await expect(release()).rejects.toThrow(WAKING);
    expect(await finalizersOf(name)).toEqual([FINALIZER]);
    await scaled(cluster.at(MORNING), input);
    expect(await replicasOf(web)).toBe(2);
    await release();
    expect(await cluster.readSchedule(name)).toBeNull();
  });

  it('stays on a schedule that nobody has deleted', async () => {
    const { given } = await scheduled('living');
    await cluster.at(MORNING).ensureFinalizer({ ...given, isPresent: false });
    expect(await finalizersOf('living')).toEqual([FINALIZER]);
  });
});

describe('what is kept of a schedule', () => {
  it('is not forgotten of what sleeps, or was approved, and is of what is awake', async () => {
    const name = 'kept';
    const { web, given, input } = await scheduled(name, { requireApproval: true });
    const approved = { ...input, isApproved: true, isBound: true };
    await cluster.at(NIGHT).ensureApproved({ ...given, observeInput: input, at: NIGHT, digest: null });
    const { seen } = await scaled(cluster.at(NIGHT), approved);
    const kept = await keptOf(name);
    const uid = (await cluster.read(web)).metadata?.uid ?? '';
    expect(kept).toEqual(['approved.0', uid].toSorted());
    const forgetting = { ...batchOf(seen, [], approved), outdated: [...kept, 'uid-of-nothing'] };
    await cluster.at(NIGHT).ensureScaled(forgetting);
    expect(await keptOf(name)).toEqual(kept);
    await cluster.admin.apps.deleteNamespacedDeployment({ namespace: name, name: 'web' });
    await cluster.at(NIGHT).ensureScaled(forgetting);
    expect(await keptOf(name)).toEqual(['approved.0']);
  });
});

describe('a batch that no plan has made', () => {
  it('reaches what the schedule selects and no more, as its commands do', async () => {
    const name = 'reached';
    const { web, given, input } = await scheduled(name);
    const foreign = workloadOf('Deployment', 'not-reached', 'web', 2);
    await cluster.create([namespaceOf('not-reached'), foreign]);
    await cluster.schedule('of-not-reached', { namespaces: ['not-reached'] });
    const other = await cluster.at(NIGHT).observeSchedule(observeInputOf('of-not-reached'));
    const own = await cluster.at(NIGHT).observeSchedule(input);
    const items = [...planOf(own).items, ...planOf(other).items];
    expect(items).toHaveLength(2);
    const until = MORNING + 3_600_000;
    const sleep: Override = { kind: 'sleep', namespace: null, since: MORNING, until, by: 'eve', reason: '' };
    const forged = { ...input, overrides: [sleep], isApproved: true };
    const { outcomes } = await cluster.at(MORNING).ensureScaled(batchOf(own, items, forged));
    expect(outcomes).toMatchObject([{ workload: 'Deployment not-reached/web', kind: 'skipped' }]);
    // What is left: by day, where `headroom lights-out sleep` does the same.
    expect([await replicasOf(web), await replicasOf(foreign)]).toEqual([0, 2]);
    expect((await cluster.read(foreign)).metadata?.annotations?.[MANAGED_BY]).toBeUndefined();
    await cluster
      .at(MORNING)
      .ensureScaled({ ...batchOf(own, items, forged), scheduleUid: `${given.scheduleUid}-before` });
    expect(await replicasOf(foreign)).toBe(2);
  });

  it('of a schedule that is suspended, a dry run, or of another UID changes nothing', async () => {
    for (const spec of [{ suspend: true }, { dryRun: true }, {}]) {
      const name = `idle-${Object.keys(spec).join('').toLowerCase()}none`;
      const { web, input } = await scheduled(name);
      const seen = await cluster.at(NIGHT).observeSchedule(input);
      await cluster.admin.custom.patchClusterCustomObject({ ...SCHEDULES, name, body: { spec } }, MERGE_PATCH);
      const batch = batchOf(seen, planOf(seen).items, { ...input, isApproved: true });
      const isOther = Object.keys(spec).length === 0;
      const { outcomes } = await cluster
        .at(NIGHT)
        .ensureScaled(isOther ? { ...batch, scheduleUid: 'uid-before' } : batch);
      expect(outcomes).toMatchObject([{ kind: 'skipped' }]);
      expect(await replicasOf(web)).toBe(2);
    }
  });

  it('of a schedule that asks for an approval is believed to have one where it says so, as from its command', async () => {
    const name = 'approved-by-nobody';
    const { web, input } = await scheduled(name, { requireApproval: true });
    const seen = await cluster.at(NIGHT).observeSchedule(input);
    const { items } = planOf(seen);
    const { outcomes } = await cluster.at(NIGHT).ensureScaled(batchOf(seen, items, { ...input, isApproved: false }));
    expect(outcomes).toMatchObject([{ workload: `Deployment ${name}/web`, kind: 'skipped' }]);
    expect(await replicasOf(web)).toBe(2);
    await cluster.at(NIGHT).ensureScaled(batchOf(seen, items, { ...input, isApproved: true }));
    expect(await replicasOf(web)).toBe(0);
  });
});

describe('what is shown of a schedule', () => {
  it('is of the one with that UID, and is believed', async () => {
    const { web, given } = await scheduled('shown');
    const ready = { status: 'True', reason: 'Forged', message: 'all is well' } as const;
    const write = { ...given, observedGeneration: 1, ready, status: {} };
    const before = await cluster.readSchedule('shown');
    await cluster.at(NIGHT).ensureScheduleStatus({ ...write, scheduleUid: 'uid-before' });
    expect(await cluster.readSchedule('shown')).toEqual(before);
    // What is left: words in Headroom's name, which put nothing to sleep.
    await cluster.at(NIGHT).ensureScheduleStatus(write);
    await cluster
      .at(NIGHT)
      .ensureScheduleEvent({ ...given, type: 'Normal', reason: 'Forged', message: 'all is well', key: 'a' });
    const { conditions } = (await cluster.readSchedule('shown'))?.['status'] ?? {};
    expect(conditions).toMatchObject([{ type: 'Ready', reason: 'Forged' }]);
    expect(await replicasOf(web)).toBe(2);
  });
});
