import { Owners } from '../../../activities/lights-out/owners.ts';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { Outlook } from '../../../domain/kernel/outlook.ts';
import { NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { MANAGED_BY, ORIGINAL_REPLICAS } from '../../../domain/lights-out/schedule/names.ts';
import type { PauseSubject } from '../../../domain/kernel/pause.ts';
import type { Workload } from '../../../domain/lights-out/workload/workload.ts';
import type { ApiGet } from '../../../activities/kubernetes/api-get.ts';
import { Outlooks } from '../../../starter/kernel/outlooks.ts';
import { Foresight } from '../../../starter/lights-out/foresight.ts';
import { ScheduleRegistry } from '../../../starter/lights-out/schedule-registry.ts';
import { namespaceAs, scheduleAs, workloadAs } from './schedules.ts';

const DAWN = Date.parse('2026-11-21T06:00:00Z');
const MINUTE = 60_000;
const SPEC = { upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'] };

const sleeper = (name: string, original: number): Workload =>
  workloadAs(name, {
    replicas: 0,
    annotations: { [MANAGED_BY]: 'nights', [ORIGINAL_REPLICAS]: String(original) },
    labels: { [MANAGED_BY]: 'nights' },
    requests: { cpu: 500 },
  });

interface Situation {
  /** What the memory knows, by UID. */
  readonly remembered?: Record<string, number | ''>;
  readonly approved?: ReadonlyMap<string, number> | null;
  readonly isBound?: boolean;
  readonly quotas?: readonly object[];
  readonly limitRanges?: readonly object[];
  /** What a container of each template says of itself. */
  readonly container?: object;
  readonly isPaused?: (subject: PauseSubject) => boolean;
  readonly spec?: object;
}

/** What is published at a moment; `requests` are the paths that were asked for, and `reads` the schedules whose memory was. */
async function foreseen(
  workloads: readonly Workload[],
  now: number,
  {
    remembered = {},
    approved = null,
    isBound = false,
    quotas = [],
    limitRanges = [],
    container = { resources: { requests: { cpu: '500m' } } },
    isPaused = () => false,
    spec = {},
  }: Situation = {},
) {
  const reads: string[] = [];
  const status = isBound ? { approved: { by: 'alice', at: '2026-11-01T00:00:00Z', digest: 'd' } } : {};
  const requests: string[] = [];
  const get: ApiGet = async (path, { query }) => {
    const metadata = { namespace: 'team-a' };
    requests.push(`${path} ${query?.['labelSelector'] ?? ''}`.trim());
    const templates = workloads.map(({ uid, name }) => ({
      metadata: { ...metadata, uid },
      spec: { template: { of: name, spec: { containers: [container] } } },
    }));
    const ofNamespace = path.endsWith('/resourcequotas') ? quotas : limitRanges;
    const items = path.startsWith('/api/v1/') ? ofNamespace.map((each) => ({ metadata, ...each })) : templates;
    return await Promise.resolve({ kind: 'answer', body: { items, metadata: {} }, etag: undefined });
  };
  const registry = new ScheduleRegistry({
    cluster: 'test',
    calendars: () => NO_CALENDARS,
    schedules: () => [scheduleAs('nights', { ...SPEC, ...spec }, { status })],
    protectedNamespaces: [],
    gitopsManagers: [],
  });
  const entries = Object.entries(remembered).map(
    ([uid, original]) =>
      [
        uid,
        { kind: 'Deployment', namespace: 'team-a', name: uid, original: String(original), level: 0, since: '' },
      ] as const,
  );
  const outlooks = new Outlooks();
  const told: (readonly [string, Outlook | null])[] = [];
  outlooks.ask(
    (spec) => spec,
    (key, outlook) => told.push([key, outlook]),
  );
  const foresight = new Foresight({
    registry,
    watch: {
      trouble: () => null,
      view: () => ({ others: [], namespaces: [namespaceAs('team-a')], workloads, missing: [], owners: new Owners() }),
    },
    outlooks,
    get,
    memory: async (schedule) => {
      reads.push(schedule);
      return await Promise.resolve({ remembered: new Map(entries), approved });
    },
    pauseOf: (subject) =>
      isPaused(subject) ? { scope: 'namespace', by: 'alice', reason: '', at: null, kept: '' } : null,
    log: pino({ level: 'silent' }),
    now: () => now,
  });
  onTestFinished(async () => await foresight.stop());
  await foresight.look();
  return { told, requests, reads, foresight };
}

it('asks for templates and quotas only where something wakes soon, and passes each outlook once', async () => {
  const night = await foreseen([sleeper('web', 3)], DAWN - 11 * MINUTE, { remembered: { web: 3 } });
  expect([night.told, night.requests]).toEqual([[], []]);
  const morning = await foreseen([sleeper('web', 3)], DAWN - 9 * MINUTE, { remembered: { web: 3 } });
  const expected = { change: 'wakes', at: DAWN, pods: 3, leadMs: 10 * MINUTE, template: { template: { of: 'web' } } };
  expect(morning.told).toMatchObject([['Deployment team-a/web', expected]]);
  expect(morning.requests).toEqual([
    '/api/v1/resourcequotas',
    '/api/v1/limitranges',
    `/apis/apps/v1/deployments ${MANAGED_BY}=nights`,
  ]);
  await morning.foresight.look();
  expect(morning.told).toHaveLength(1);
});

it('foresees of a schedule that has to be approved what is approved, and reads that where something is near', async () => {
  const spec = { requireApproval: true };
  const approval = { approved: new Map([['Deployment team-a/web', 0]]), isBound: true };
  const both = [workloadAs('web'), workloadAs('new')];
  const noon = await foreseen(both, Date.parse('2026-11-21T12:00:00Z'), { spec, ...approval });
  expect([noon.told, noon.reads.length]).toEqual([[], 0]);
  const evening = await foreseen(both, Date.parse('2026-11-21T17:30:00Z'), { spec, ...approval });
  await evening.foresight.look();
  expect(evening.told.map(([key]) => key)).toEqual(['Deployment team-a/web']);
  expect(evening.reads).toEqual(['nights']);
});

it('foresees who sleeps within the hour', async () => {
  const { told } = await foreseen([workloadAs('web')], Date.parse('2026-11-21T17:30:00Z'));
  expect(told).toMatchObject([['Deployment team-a/web', { change: 'sleeps', template: null }]]);
});

it('believes no mark beyond what the memory knows, and no number that the quotas do not let in', async () => {
  const at = DAWN - MINUTE;
  const podsOf = async (given: Parameters<typeof foreseen>[2]) =>
    (await foreseen([sleeper('web', 1_000_000)], at, given)).told.map(([, outlook]) => outlook?.pods);
  expect(await podsOf({})).toEqual([]);
  expect(await podsOf({ remembered: { web: 3 } })).toEqual([3]);
  const quota = { spec: { hard: { 'requests.cpu': '2' } }, status: { used: { 'requests.cpu': '1' } } };
  expect(await podsOf({ remembered: { web: 3 }, quotas: [quota] })).toEqual([2]);
  expect(await podsOf({ remembered: { web: 3 }, quotas: [{ spec: { hard: { pods: '0' } } }] })).toEqual([]);
});

it('counts against the quotas what pods request once they are stored', async () => {
  const podsOf = async (given: Situation) =>
    (await foreseen([sleeper('web', 9)], DAWN - MINUTE, { remembered: { web: 9 }, ...given })).told.map(
      ([, outlook]) => outlook?.pods,
    );
  const cpu = [{ spec: { hard: { 'requests.cpu': '2' } } }];
  const limitRanges = [{ spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '1' } }] } }];
  expect(await podsOf({ container: {}, quotas: cpu, limitRanges })).toEqual([2]);
  expect(await podsOf({ container: {}, quotas: cpu })).toEqual([]);
  const gpu = { resources: { limits: { 'nvidia.com/gpu': '1' } } };
  expect(await podsOf({ container: gpu, quotas: [{ spec: { hard: { 'requests.nvidia.com/gpu': '3' } } }] })).toEqual([
    3,
  ]);
});

it('foresees nothing of what is paused: nobody wakes it, nor puts it to sleep', async () => {
  const isPaused = ({ controller, namespace, name }: PauseSubject): boolean =>
    controller === 'lights-out' && namespace === 'team-a' && name === 'nights';
  const night = await foreseen([sleeper('web', 3)], DAWN - MINUTE, { remembered: { web: 3 }, isPaused });
  expect([night.told, night.requests]).toEqual([[], []]);
  const evening = await foreseen([workloadAs('web')], Date.parse('2026-11-21T17:30:00Z'), { isPaused });
  expect(evening.told).toEqual([]);
});

it('knows that a Rollout without a number has one pod', async () => {
  const rollout: Workload = {
    ...sleeper('web', 1),
    kind: 'Rollout',
    annotations: { [MANAGED_BY]: 'nights', [ORIGINAL_REPLICAS]: '' },
  };
  const { told } = await foreseen([rollout], DAWN - MINUTE, { remembered: { web: '' } });
  expect(told).toMatchObject([['Rollout team-a/web', { change: 'wakes', pods: 1 }]]);
});
