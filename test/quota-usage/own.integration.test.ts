import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaUsageId, quotaUsageRollUpId } from '../../domain/quota-usage/target.ts';
import { commandUpdates, rollUpStatus, status } from '../../workflows/quota-usage/messages.ts';
import { seededRandom } from '../chaos/random.ts';
import { type AuditEvent, changesNothing } from '../kernel/servers/audit-log.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { templateObjects } from '../kernel/stack/chart.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { CLUSTER, type HeadroomPlane, STARTER_USER } from '../kernel/stack/headroom-plane.ts';
import { metricsOf } from '../kernel/stack/metrics-of.ts';
import { startUsagePlane } from './planes.ts';
import { type Api, openApi } from './side-by-side/api.ts';

const QUOTA = 'limits';
/** Only what changes is counted: nothing here is true because everything was counted again meanwhile. */
const NO_RESYNC = { 'quotaUsage.resync': '0' };
/** The time between two counts of a busy namespace. */
const BUSY_GAP_MS = 150;
/**
 * Milliseconds: a thousand changes, or hundreds with two starts and the ten seconds after which another starter has the counts
 * of a killed one, take a minute on a machine that has others to serve, and more on one that starves.
 */
const LONG_MS = 240_000;
/** Objects, of dozens. */
const FEW = 5;
const FINALIZER = 'example.com/kept';
const NODE = 'lost';
const [HIGH, LOW] = ['own-high', 'own-low'];

type Amounts = Readonly<Record<string, string>>;

let headroom: HeadroomPlane;
let api: Api;
let firstStarter: SupervisedProcess;
beforeAll(async () => {
  headroom = await startUsagePlane();
  api = openApi(headroom.plane.adminKubeconfig);
  [firstStarter] = await Promise.all([headroom.startStarter(NO_RESYNC), headroom.startWorker()]);
  await make('/api/v1/nodes', { metadata: { name: NODE } });
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  await make(classes, { metadata: { name: HIGH }, value: 2 });
  await make(classes, { metadata: { name: LOW }, value: 1 });
  // From here on everything that the tests count is watched already.
  await givenQuota('watched', { ...PODS, configmaps: '5', services: '5' });
  await untilUsed('watched', { configmaps: '1', pods: '0', 'requests.cpu': '0', services: '0' });
});
afterAll(async () => {
  api?.close();
  await headroom?.stop();
});

/** Limits that nobody meets. */
const PODS = { pods: '1k', 'requests.cpu': '1k' };

const at = (namespace: string, ...rest: readonly string[]): string =>
  ['/api/v1/namespaces', namespace, ...rest].join('/');
const quotaAt = (namespace: string, quota = QUOTA): string => at(namespace, 'resourcequotas', quota);

async function make(path: string, body: object): Promise<void> {
  for (;;) {
    const answer = await api.ask('POST', path, body);
    // Admission gives up when a quota changes under it three times in a row, whoever changes it; every client tries again.
    if (answer.reason === 'Conflict') continue;
    // A refusal's message is what tells why.
    expect(answer).toMatchObject({ code: 201, message: '' });
    return;
  }
}

async function patch(path: string, body: object): Promise<void> {
  expect(await api.ask('PATCH', path, body, 'merge')).toMatchObject({ code: 200, message: '' });
}

async function remove(path: string, options?: object): Promise<void> {
  expect((await api.ask('DELETE', path, options)).code).toBeOneOf([200, 202]);
}

/** With the root certificate that every namespace gets, whose coming is a change like any other. */
async function givenNamespace(namespace: string): Promise<void> {
  await make('/api/v1/namespaces', { metadata: { name: namespace } });
  const certificate = at(namespace, 'configmaps', 'kube-root-ca.crt');
  await eventually(`${namespace} is furnished`, async () => (await api.ask('GET', certificate)).code === 200);
}

async function makeQuota(namespace: string, hard: Amounts, scopes: object = {}, name = QUOTA): Promise<void> {
  await make(at(namespace, 'resourcequotas'), { metadata: { name }, spec: { hard, ...scopes } });
}

async function givenQuota(namespace: string, hard: Amounts): Promise<void> {
  await givenNamespace(namespace);
  await makeQuota(namespace, hard);
}

async function makePod(namespace: string, name: string, metadata: object = {}, spec: object = {}): Promise<void> {
  const container = { name: 'main', image: 'main:1', resources: { requests: { cpu: '100m' } } };
  await make(at(namespace, 'pods'), { metadata: { name, ...metadata }, spec: { containers: [container], ...spec } });
}

async function statusOf(namespace: string): Promise<{ readonly hard?: Amounts; readonly used?: Amounts }> {
  return await eventually(`the API server tells the status of ${namespace}`, async () => {
    const { code, object } = await api.ask('GET', quotaAt(namespace));
    // A server that is too busy to answer says nothing about the quota.
    return code !== 429 && code < 500 && (object.status ?? {});
  });
}

async function untilStatus(namespace: string, expected: { readonly hard?: Amounts; readonly used: Amounts }) {
  await eventually(`${namespace} says ${JSON.stringify(expected)}`, async () => {
    const { hard, used } = await statusOf(namespace);
    const now = { ...(expected.hard === undefined ? {} : { hard }), used };
    if (JSON.stringify(now) !== JSON.stringify(expected)) throw new Error(`it says ${JSON.stringify(now)}`);
    return true;
  });
}

/** Resources in the order of their names, as the API server prints them. */
async function untilUsed(namespace: string, used: Amounts): Promise<void> {
  await untilStatus(namespace, { used });
}

/** Until it has said so for a second without a break. */
async function untilUsedForASecond(namespace: string, used: Amounts): Promise<void> {
  let since = Number.POSITIVE_INFINITY;
  await eventually(`${namespace} has said ${JSON.stringify(used)} for a second`, async () => {
    const isCounted = JSON.stringify((await statusOf(namespace)).used) === JSON.stringify(used);
    since = isCounted ? Math.min(since, Date.now()) : Number.POSITIVE_INFINITY;
    return Date.now() - since >= 1_000;
  });
}

const idOf = (namespace: string, quota = QUOTA): string => quotaUsageId({ cluster: CLUSTER, namespace, quota });

interface Run {
  readonly workflowId: string;
  readonly status: string;
}

async function runs(query: string): Promise<readonly Run[]> {
  const found: Run[] = [];
  for await (const run of headroom.client.workflow.list({ query })) {
    found.push({ workflowId: run.workflowId, status: run.status.name });
  }
  return found;
}

const episodes = async (namespace: string, quota = QUOTA): Promise<readonly Run[]> =>
  await runs(`WorkflowId = '${idOf(namespace, quota)}'`);

/** Requests of Headroom's own processes, written down so far. */
async function requests(): Promise<readonly AuditEvent[]> {
  return (await headroom.plane.auditEvents()).filter(({ user }) => user.username.startsWith('headroom-'));
}

/** What Headroom has changed in the cluster, or tried to, besides the Lease of the owner. */
async function writes(): Promise<readonly string[]> {
  return (await requests())
    .filter(({ verb }) => ['create', 'update', 'patch', 'delete', 'deletecollection'].includes(verb))
    .filter((event) => event.objectRef?.resource !== 'leases' && !changesNothing(event))
    .map(({ verb, objectRef }) => {
      const { resource, subresource, namespace, name } = objectRef ?? {};
      return `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${namespace}/${name}`;
    });
}

/** Those that the API server took; where admission writes too, others meet a conflict. */
const statusWrites = async (namespace: string): Promise<number> =>
  (await requests()).filter(
    ({ verb, objectRef, responseStatus }) =>
      verb === 'patch' &&
      objectRef?.subresource === 'status' &&
      objectRef.namespace === namespace &&
      objectRef.name === QUOTA &&
      responseStatus?.code === 200,
  ).length;

async function untilGone(namespace: string): Promise<void> {
  await eventually(`${namespace} is gone`, async () => (await api.ask('GET', at(namespace))).code === 404);
}

/** Until no episode runs, of those whose id begins like this. */
async function untilEnded(start: string): Promise<void> {
  const query = `WorkflowType = 'quotaUsage' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${start}'`;
  await eventually(`the episodes of ${start} end`, async () => (await runs(query)).length === 0);
}

/** Until the writes of a namespace's quota are written down: the API server logs a request some moments after it. */
async function untilWritten(namespace: string, atLeast = 1): Promise<void> {
  await eventually(`${atLeast} writes of ${namespace} are known`, async () => {
    return (await statusWrites(namespace)) >= atLeast;
  });
}

/** Milliseconds in which whatever is there is listed and logged. */
const CALM_MS = 1_000;

/**
 * Until nothing that was done so far has anything to follow any more: no episode, no request of one, and no change that the
 * starter counts later because a namespace was busy.
 */
async function untilCalm(starter?: SupervisedProcess): Promise<void> {
  let [existing, since] = ['', 0];
  await eventually('all is calm', async () => {
    // A server that is held up has perhaps answered what it has not written down yet.
    await api.ask('GET', at('default'));
    await untilEnded('quota-usage/');
    const now = JSON.stringify([(await runs("WorkflowType = 'quotaUsage'")).length, (await writes()).length]);
    const isCounted = starter === undefined || (await metric(starter, 'headroom_usage_waiting_namespaces')) === 0;
    if (now !== existing || !isCounted) [existing, since] = [now, Date.now()];
    return Date.now() - since >= CALM_MS;
  });
}

// By itself: a new kind that another test's quota counts has every namespace counted once more, a false status included.
describe('a quota whose status Headroom keeps, and nothing else changes', () => {
  it('that somebody falsified is true again with one write each time, without any workflow', async () => {
    const namespace = 'falsified';
    await givenQuota(namespace, { pods: '5' });
    const isTrue = { hard: { pods: '5' }, used: { pods: '0' } };
    await untilStatus(namespace, isTrue);
    await untilCalm(firstStarter);
    const writesBefore = await statusWrites(namespace);
    const falsehoods = [
      { used: { pods: '4' } },
      { used: { pods: null } },
      { used: { secrets: '3' } },
      { hard: { pods: '9' } },
      { hard: null, used: null },
    ];
    for (const [index, falsehood] of falsehoods.entries()) {
      await patch(`${quotaAt(namespace)}/status`, { status: falsehood });
      await untilStatus(namespace, isTrue);
      await untilWritten(namespace, writesBefore + index + 1);
    }
    const expected = writesBefore + falsehoods.length;
    await never('it is written once more', async () => (await statusWrites(namespace)) > expected, 2_000);
    expect(await episodes(namespace)).toEqual([]);
  });
});

describe.concurrent('a quota whose status Headroom keeps', () => {
  it('costs a few writes when a thousand objects come and go', { timeout: LONG_MS }, async () => {
    const namespace = 'burst';
    await givenQuota(namespace, { configmaps: '5k' });
    await untilUsed(namespace, { configmaps: '1' });
    await untilWritten(namespace);
    const before = await statusWrites(namespace);
    const began = Date.now();
    const lanes = Array.from({ length: 10 }, (_, lane) => lane);
    await Promise.all(
      lanes.map(async (lane) => {
        for (let index = 0; index < 100; index += 1) {
          const metadata = { name: `burst-${lane}-${index}`, labels: { burst: 'true' } };
          await make(at(namespace, 'configmaps'), { metadata });
        }
      }),
    );
    await remove(`${at(namespace, 'configmaps')}?labelSelector=burst%3Dtrue`);
    await untilUsed(namespace, { configmaps: '1' });
    await untilEnded(idOf(namespace));
    const few = 9 + Math.ceil((Date.now() - began) / BUSY_GAP_MS);
    expect((await statusWrites(namespace)) - before).toBeLessThanOrEqual(few);
  });

  it('frees what was deleted while admission charges it for others all the time', async () => {
    const namespace = 'steady';
    await givenQuota(namespace, { configmaps: '100k' });
    await untilUsed(namespace, { configmaps: '1' });
    const deleted = Array.from({ length: 30 }, (_, index) => `old-${index}`);
    for (const name of deleted) await make(at(namespace, 'configmaps'), { metadata: { name } });
    const over = new AbortController();
    let asked = 0;
    const creating = async (): Promise<void> => {
      while (!over.signal.aborted) {
        asked += 1;
        await make(at(namespace, 'configmaps'), { metadata: { name: `new-${asked}` } });
      }
    };
    const freeing = async (): Promise<void> => {
      try {
        for (const name of deleted) await remove(at(namespace, 'configmaps', name));
        await eventually('they are not charged any more', async () => {
          const used = Number((await statusOf(namespace)).used?.['configmaps']);
          // The root certificate, and what was created by now. While objects come, each count may charge those of the moment
          // twice, which the next one puts right; a machine that starves has a few of them all the time.
          return used <= 1 + asked + FEW;
        });
      } finally {
        over.abort();
      }
    };
    await Promise.all([creating(), freeing()]);
    await untilUsed(namespace, { configmaps: String(1 + asked) });
  });

  it.each([
    ['counted before', true],
    ['created after', false],
  ])('that was %s a pod began to be stuck in its deletion charges it until its grace is over', async (_, isBefore) => {
    const namespace = isBefore ? 'stuck-known' : 'stuck-new';
    const hard = { 'count/pods': '5', ...PODS };
    const charged = { 'count/pods': '1', pods: '1', 'requests.cpu': '100m' };
    await givenNamespace(namespace);
    if (isBefore) {
      await makeQuota(namespace, hard);
      await untilUsed(namespace, { 'count/pods': '0', pods: '0', 'requests.cpu': '0' });
    }
    await makePod(namespace, 'kept', { finalizers: [FINALIZER] }, { nodeName: NODE });
    if (isBefore) {
      // Then nothing is counted any more because the pod came.
      await untilUsedForASecond(namespace, charged);
    }
    // It counts until twice this long after now: time enough to see it counted, on a machine that starves as well.
    await remove(at(namespace, 'pods', 'kept'), { gracePeriodSeconds: isBefore ? 1 : 12 });
    if (!isBefore) {
      await makeQuota(namespace, hard);
      await untilUsed(namespace, charged);
    }
    await untilUsed(namespace, { 'count/pods': '1', pods: '0', 'requests.cpu': '0' });
    expect((await api.ask('GET', at(namespace, 'pods', 'kept'))).code).toBe(200);
  });

  it('is counted again when only its scope selector changes', async () => {
    const namespace = 'scoped';
    const selector = (operator: string, values?: readonly string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) }] },
    });
    await givenNamespace(namespace);
    await makeQuota(namespace, { pods: '9' }, selector('In', [HIGH]));
    await untilUsed(namespace, { pods: '0' });
    await makePod(namespace, 'first', {}, { priorityClassName: HIGH });
    await makePod(namespace, 'second', {}, { priorityClassName: HIGH });
    await makePod(namespace, 'third', {}, { priorityClassName: LOW });
    await untilUsed(namespace, { pods: '2' });
    const changes = [
      [selector('In', [LOW]), '1'],
      [selector('Exists'), '3'],
      [selector('DoesNotExist'), '0'],
      [{ scopeSelector: null }, '3'],
    ] as const;
    for (const [spec, pods] of changes) {
      await patch(quotaAt(namespace), { spec });
      await untilUsed(namespace, { pods });
    }
  });

  it('is counted but for the number that an amount of a pod makes unreadable, until that pod goes', async () => {
    await givenNamespace('odd');
    await makePod('odd', 'usual');
    const container = { name: 'main', image: 'main:1', resources: { requests: { cpu: '50m', memory: '1e1002' } } };
    // Before there is a quota, which would refuse it.
    await makePod('odd', 'odd', {}, { containers: [container] });
    await makeQuota('odd', { ...PODS, 'requests.memory': '1Ti' });
    await eventually('the rest is counted', async () => {
      const { used = {} } = await statusOf('odd');
      return used['pods'] === '2' && used['requests.cpu'] === '150m' && !('requests.memory' in used);
    });
    await patch(at('odd', 'pods', 'odd'), { metadata: { labels: { changed: 'true' } } });
    await remove(at('odd', 'pods', 'odd'), { gracePeriodSeconds: 0 });
    await untilUsed('odd', { pods: '1', 'requests.cpu': '100m', 'requests.memory': '0' });
  });

  it('is counted although a limit of its own cannot be read, and although its status says what cannot', async () => {
    await givenQuota('odd-quota', { pods: '5', 'requests.memory': '1e1002' });
    const isTrue = {
      hard: { pods: '5', 'requests.memory': '1e1002' },
      used: { pods: '0', 'requests.memory': '0' },
    };
    await untilStatus('odd-quota', isTrue);
    await patch(`${quotaAt('odd-quota')}/status`, { status: { used: { pods: '3', 'requests.memory': '1e1005' } } });
    await untilStatus('odd-quota', isTrue);
  });

  it('is counted when it was deleted and came back under its name while objects came and went', async () => {
    const namespace = 'reborn';
    await givenNamespace(namespace);
    const over = new AbortController();
    const churn = async (): Promise<void> => {
      for (let index = 0; !over.signal.aborted; index += 1) {
        const name = `some-${index}`;
        // Refused while a quota is not counted yet, or goes in the middle of the request.
        const { code } = await api.ask('POST', at(namespace, 'configmaps'), { metadata: { name } });
        if (code === 201 && index % 3 !== 0) await remove(at(namespace, 'configmaps', name));
      }
    };
    const lives = async (): Promise<void> => {
      try {
        for (let life = 0; life < 5; life += 1) {
          if (life > 0) await remove(quotaAt(namespace));
          // Another limit each time, so that a status of an earlier life is told from its own.
          const hard = { configmaps: String(10_001 + life), pods: '5' };
          await makeQuota(namespace, hard);
          await eventually('it is counted', async () => {
            const { hard: limits, used } = await statusOf(namespace);
            return limits?.['configmaps'] === hard.configmaps && used?.['configmaps'] !== undefined;
          });
        }
      } finally {
        over.abort();
      }
    };
    await Promise.all([churn(), lives()]);
    const { items = [] } = (await api.ask('GET', at(namespace, 'configmaps'))).object;
    await untilStatus(namespace, {
      hard: { configmaps: '10005', pods: '5' },
      used: { configmaps: String(items.length), pods: '0' },
    });
  });

  it('that goes with its namespace leaves no episode behind', async () => {
    const namespaces = ['gone-a', 'gone-b', 'gone-c'];
    const quotas = ['one', 'two', 'three'];
    await Promise.all(
      namespaces.map(async (namespace) => {
        await givenNamespace(namespace);
        for (const name of quotas) await makeQuota(namespace, { configmaps: '50', pods: '5' }, {}, name);
        // Falsified just before they go: their episodes are under way then.
        await eventually('all are counted', async () => {
          const { items = [] } = (await api.ask('GET', at(namespace, 'resourcequotas'))).object;
          return items.every((quota) => quota.status?.used?.['configmaps'] === '1');
        });
        for (const name of quotas) {
          await patch(`${quotaAt(namespace, name)}/status`, { status: { used: { configmaps: '40' } } });
        }
        await remove(at(namespace));
        await untilGone(namespace);
      }),
    );
    await untilEnded(`quota-usage/${CLUSTER}/gone-`);
  });
});

describe('Headroom that is paused in the whole cluster', () => {
  const pauseAt = at(SYSTEM_NAMESPACE, 'configmaps');
  const blocked = async (namespace: string): Promise<void> => {
    await eventually(`${namespace} is blocked`, async () => {
      const current = await headroom.client.workflow.getHandle(idOf(namespace)).query(status);
      return current.phase === 'Paused' && current.reason === 'GloballyPaused';
    });
  };

  it('writes no status and says so, and goes on when told; what is deleted meanwhile ends at once', async () => {
    await givenQuota('frozen', { pods: '5' });
    await givenQuota('frozen-gone', { pods: '5' });
    await Promise.all([untilUsed('frozen', { pods: '0' }), untilUsed('frozen-gone', { pods: '0' })]);
    await Promise.all([untilWritten('frozen'), untilWritten('frozen-gone')]);
    await untilCalm(firstStarter);
    const [before, takenBefore] = [(await writes()).length, await statusWrites('frozen')];

    const data = { by: 'alice', reason: 'an incident' };
    await make(pauseAt, { metadata: { name: 'headroom-pause' }, data });
    for (const namespace of ['frozen', 'frozen-gone']) {
      await patch(`${quotaAt(namespace)}/status`, { status: { used: { pods: '4' } } });
    }
    await Promise.all([blocked('frozen'), blocked('frozen-gone')]);
    await remove(quotaAt('frozen-gone'));
    const gone = headroom.client.workflow.getHandle(idOf('frozen-gone'));
    await eventually('its episode ends', async () => (await gone.describe()).status.name === 'COMPLETED');
    expect((await writes()).slice(before)).toEqual([]);
    expect(await statusOf('frozen')).toMatchObject({ used: { pods: '4' } });

    await remove(`${pauseAt}/headroom-pause`);
    const handle = headroom.client.workflow.getHandle(idOf('frozen'));
    await handle.executeUpdate(commandUpdates.reconcileNow, { args: [{ by: 'alice' }] }).catch((error: unknown) => {
      // It rests for half a minute by itself, which may be over just now on a machine that starves.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
    await untilUsed('frozen', { pods: '0' });
    await untilEnded(idOf('frozen'));
    await eventually('its write is written down', async () => (await statusWrites('frozen')) > takenBefore);
    expect(await statusWrites('frozen')).toBe(takenBefore + 1);
    // One whose answer was lost is tried again, and meets a conflict.
    expect([...new Set((await writes()).slice(before))]).toEqual([`patch resourcequotas/status frozen/${QUOTA}`]);
  });
});

describe('two starters', () => {
  const namespaces = ['streamed-a', 'streamed-b', 'streamed-c', 'streamed-d'];
  let latest: SupervisedProcess;

  it('of which one is killed in the middle of changes leave every status true, and it writes nothing when it is back', {
    timeout: LONG_MS,
  }, async () => {
    const other = await headroom.startStarter(NO_RESYNC);
    for (const namespace of namespaces) {
      await givenQuota(namespace, { ...PODS, configmaps: '1k', services: '1k' });
      await untilUsed(namespace, { configmaps: '1', pods: '0', 'requests.cpu': '0', services: '0' });
    }
    const stream = Promise.all(namespaces.map(async (namespace, index) => await change(namespace, 60, index + 1)));
    await eventually('half of the changes are made', () => made >= 120);
    await firstStarter.kill();
    await stream;
    for (const namespace of namespaces) await untilUsed(namespace, await usedBy(namespace));
    await untilCalm(other);

    const before = (await writes()).length;
    // It counts everything now and then, which must not cost anything either.
    latest = await headroom.startStarter({ 'quotaUsage.resync': '1s' });
    await eventually('it has counted', async () => {
      return (await metric(latest, 'headroom_usage_recounts_total')) >= namespaces.length;
    });
    await untilCalm();
    expect((await writes()).slice(before)).toEqual([]);
  });

  it('cost nothing in an idle cluster, however often they count', async () => {
    const all = async (): Promise<number> => (await runs("WorkflowType = 'quotaUsage'")).length;
    const counts = async (): Promise<number> => await metric(latest, 'headroom_usage_recounts_total');
    const [runsBefore, writesBefore, countedBefore] = [await all(), (await writes()).length, await counts()];
    await never('an episode starts', async () => (await all()) > runsBefore, 5_000);
    expect((await writes()).slice(writesBefore)).toEqual([]);
    await eventually('they have counted', async () => (await counts()) > countedBefore);
  });

  let made = 0;

  /** Creates and deletes objects in a namespace at random, one at a time. */
  async function change(namespace: string, times: number, seed: number): Promise<void> {
    const random = seededRandom(seed);
    const alive: string[] = [];
    for (let index = 0; index < times; index += 1) {
      if (alive.length > 0 && random.next() < 0.45) {
        const path = random.pick(alive);
        alive.splice(alive.indexOf(path), 1);
        await remove(path);
      } else {
        const resource = random.pick(['configmaps', 'pods', 'services']);
        const name = `${resource}-${index}`;
        if (resource === 'pods') await makePod(namespace, name);
        else {
          const spec = resource === 'services' ? { spec: { ports: [{ port: 80 }] } } : {};
          await make(at(namespace, resource), { metadata: { name }, ...spec });
        }
        alive.push(at(namespace, resource, name));
      }
      made += 1;
    }
  }

  /** What is there by the lists of the API server. */
  async function usedBy(namespace: string): Promise<Amounts> {
    const count = async (resource: string): Promise<number> =>
      (await api.ask('GET', at(namespace, resource))).object.items?.length ?? 0;
    const pods = await count('pods');
    const tenths = pods % 10 === 0 ? String(pods / 10) : `${pods * 100}m`;
    return {
      configmaps: String(await count('configmaps')),
      pods: String(pods),
      'requests.cpu': tenths,
      services: String(await count('services')),
    };
  }
});

/** The value of a starter's metric; NaN for one that it does not have. */
async function metric(starter: SupervisedProcess, name: string): Promise<number> {
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(await metricsOf(starter))?.[1]);
}

describe('in all of this', () => {
  it('the roll-up has what was written', async () => {
    const rollUp = headroom.client.workflow.getHandle(quotaUsageRollUpId(CLUSTER));
    const { writes: count, minutes } = await eventually(
      'a minute with writes is over',
      async () => await rollUp.query(rollUpStatus).catch(() => null),
      120_000,
    );
    expect(minutes.reduce((sum, minute) => sum + minute.writes, 0)).toBe(count);
    // A minute that the killed starter had not told yet is lost.
    expect(minutes.flatMap(({ namespaces }) => Object.keys(namespaces))).toContain('streamed-a');
  });

  it('no write read a pause: the watch of them is enough', async () => {
    const events = await requests();
    const isPatch = ({ verb, objectRef }: AuditEvent): boolean =>
      verb === 'patch' && objectRef?.subresource === 'status';
    const isRead = ({ verb, objectRef, user }: AuditEvent): boolean =>
      verb === 'get' && objectRef?.resource === 'configmaps' && user.username === STARTER_USER;
    const [patches, reads] = [isPatch, isRead].map((is) => events.filter(is).length);
    expect(patches).toBeGreaterThan(60);
    // Of each ConfigMap one, by each of the starters before its watch is there, and where a pause holds.
    expect(reads).toBeLessThanOrEqual(20);
  });

  it('no episode failed', async () => {
    const wrong = ['Failed', 'TimedOut', 'Terminated', 'Canceled'].map(
      (executionStatus) => `ExecutionStatus = '${executionStatus}'`,
    );
    expect(await runs(wrong.join(' OR '))).toEqual([]);
  });

  it('nothing was refused to worker and starter, and what they were granted for writing was needed', async () => {
    const events = await requests();
    expect(events.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    const needed = new Set(events.flatMap(grantOf));
    const granted = await grantsOf('own');
    expect(granted).toEqual(['headroom-starter-quota-usage-own: patch resourcequotas/status']);
    expect(granted.filter((grant) => !needed.has(grant))).toEqual([]);
    // What the starter may list is what quotas can count (test/deploy/privileges.integration.test.ts); these count a part.
    const read = (await grantsOf('reading')).filter((grant) => needed.has(grant));
    expect(read).toEqual(expect.arrayContaining(['configmaps', 'pods', 'services'].flatMap(watched)));
  });

  interface Role {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  }

  function watched(resource: string): readonly string[] {
    return ['list', 'watch'].map((verb) => `headroom-starter-quota-usage-reading: ${verb} ${resource}`);
  }

  /** `role: verb resource` of everything that a part of the chart grants. */
  async function grantsOf(part: string): Promise<string[]> {
    const objects = (await templateObjects(`quota-usage/${part}-rbac`)) as readonly Role[];
    return objects
      .filter(({ kind }) => kind === 'ClusterRole')
      .flatMap(({ metadata, rules = [] }) =>
        rules.flatMap(({ resources, verbs }) =>
          verbs.flatMap((verb) => resources.map((resource) => `${metadata.name}: ${verb} ${resource}`)),
        ),
      );
  }

  /** The grant that allowed a request, by the role that the API server gives as its reason. */
  function grantOf({ annotations, verb, objectRef }: AuditEvent): string[] {
    const [, role] = /of ClusterRole "([^"]+)"/.exec(annotations?.['authorization.k8s.io/reason'] ?? '') ?? [];
    if (role === undefined) return [];
    const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
    return [`${role}: ${verb} ${resource}`];
  }
});
