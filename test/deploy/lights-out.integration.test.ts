/** What is deployed for schedules, on a real API server: the definition with its rules, the webhooks, the roles, the examples. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  ApiextensionsV1Api,
  ApiException,
  AuthorizationV1Api,
  CustomObjectsApi,
  type KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  loadYaml,
  PatchStrategy,
  setHeaderOptions,
  type V1CustomResourceDefinition,
  type V1ResourceAttributes,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { lightsOutDefinition } from '../../domain/lights-out/schedule/definition.ts';
import { FINALIZER, GROUP, KIND, PLURAL, VERSION } from '../../domain/lights-out/schedule/names.ts';
import { LONGEST_GRACE, LONGEST_WAIT, NO_NAMESPACES } from '../../domain/lights-out/schedule/problems.ts';
import { readSchedule, scheduleWarnings } from '../../domain/lights-out/schedule/read-schedule.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { createApiGet } from '../../activities/kubernetes/api-get.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { WEBHOOK_KINDS, templateObjects, webhookObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { accessOf } from '../kernel/stack/access.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const SYSTEM = 'namespace-resizer-system';
const schedules = { group: GROUP, version: VERSION, plural: PLURAL };
const good = { upscale: '0 6 * * 1-5', downscale: '0 18 * * 1-5', namespaces: ['team-a'] };

let plane: ControlPlane;
let config: KubeConfig;
let custom: CustomObjectsApi;

beforeAll(async () => {
  plane = await borrowControlPlane();
  config = accessOf(plane.adminKubeconfig);
  custom = config.makeApiClient(CustomObjectsApi);
  for (const object of await templateObjects('namespace', 'rbac')) await apply(object);
  await applyDefinition(withoutRules());
  // Before the rules came: as the first implementation let them in.
  await create('let-in-before', { ...good, namespaces: [], namespaceSelector: {} }, [FINALIZER]);
  const webhooks = await webhookObjects('lights-out', 'Service', ...WEBHOOK_KINDS);
  const roles = await templateObjects('lights-out/rbac', 'lights-out/webhook-rbac');
  for (const object of [...roles, ...webhooks]) await apply(object);
  await applyDefinition(lightsOutDefinition());
  // The rules take a moment to be there: until then a bad schedule is let in.
  await eventually('the rules of the definition hold', async () => {
    const { namespaces: _, ...without } = good;
    return (await refusal(without)).includes('namespace');
  });
});
afterAll(async () => {
  await plane?.stop();
});

describe('the definition of LightsOutSchedules', () => {
  it('is accepted as it is, with every rule within the costs that the API server allows', async () => {
    const extensions = config.makeApiClient(ApiextensionsV1Api);
    const { status } = await extensions.readCustomResourceDefinition({ name: `${PLURAL}.${GROUP}` });
    const conditions = Object.fromEntries((status?.conditions ?? []).map(({ type, status }) => [type, status]));
    expect(conditions).toMatchObject({ Established: 'True', NamesAccepted: 'True' });
    expect(conditions['NonStructuralSchema']).toBeUndefined();
  });

  it('fills in what a schedule of the first implementation leaves out', async () => {
    const { spec } = await create('least', good);
    expect(spec).toEqual({
      ...good,
      timezone: 'UTC',
      excludeNamespaces: [],
      suspend: false,
      workloadTypes: [],
      downscaleReplicas: 0,
      windows: [],
      exceptions: [],
      calendars: [],
      priorities: [],
      readinessTimeout: '10m',
      newWorkloadGrace: '0',
      prewarm: '10m',
      cronJobs: { catchUp: 'last' },
      ownTimes: 'any',
      controllerOwned: 'skip',
      allNamespaces: false,
      dryRun: false,
      requireApproval: false,
    });
    // What the server fills in is what the code fills in.
    expect(readSchedule({ spec: good }).spec).toEqual(spec);
  });

  it.each([
    ['names of namespaces', good],
    ['a selector by labels', { ...without('namespaces'), namespaceSelector: { matchLabels: { environment: 'dev' } } }],
    [
      'a selector by expressions',
      {
        ...without('namespaces'),
        namespaceSelector: {
          matchExpressions: [
            { key: 'a', operator: 'In', values: ['b'] },
            { key: 'c', operator: 'NotIn', values: ['d'] },
            { key: 'e', operator: 'Exists' },
            { key: 'f', operator: 'DoesNotExist', values: [] },
          ],
        },
      },
    ],
    ['an empty selector beside names', { ...good, namespaceSelector: {}, allNamespaces: true }],
    ['an empty selector alone', { ...without('namespaces'), namespaceSelector: {}, allNamespaces: true }],
    ['Go durations', { ...good, upscaleRateLimit: { batchSize: 5, delayBetweenBatches: '1m30s' } }],
    ['a delay of nothing', { ...good, downscaleRateLimit: { batchSize: 1, delayBetweenBatches: '0s' } }],
    ['the longest delay', { ...good, downscaleRateLimit: { delayBetweenBatches: '24h0m0s' } }],
    ['an empty time zone', { ...good, timezone: '' }],
    ['spaces around five fields', { ...good, upscale: '  0   6 * * MON-FRI ' }],
    ['the quirks of its dialect', { ...good, upscale: '0/15 6 ? * 1,,3' }],
    ['exclusions and kinds', { ...good, excludeNamespaces: ['team-b'], workloadTypes: ['CronJob'], suspend: true }],
    [
      'windows',
      {
        ...good,
        windows: [
          { upscale: '0 14 * * *', downscale: '0 12 * * *', percent: 50 },
          { upscale: '0 23 * * *', downscale: '0 20 * * *', replicas: 0 },
        ],
      },
    ],
    ['a leap day', { ...good, exceptions: [{ from: '2028-02-29', state: 'Down' }] }],
    ['a leap day of every year that has one', { ...good, exceptions: [{ from: '02-29', state: 'Down' }] }],
    ['one day', { ...good, exceptions: [{ from: '2026-12-24', to: '2026-12-24', state: 'Up', reason: 'release' }] }],
    ['the turn of the year', { ...good, exceptions: [{ from: '12-24', to: '01-02', state: 'Down' }] }],
  ])('lets in %s, and so does the code', async (_, spec) => {
    expect(await refusal(spec)).toBe('');
    expect(readSchedule({ spec }).problems).toEqual([]);
  });

  const exception = (from: string, to?: string) => ({
    ...good,
    exceptions: [{ from, state: 'Up', ...(to === undefined ? {} : { to }) }],
  });
  const window = (part: object) => ({
    ...good,
    windows: [{ upscale: '0 14 * * *', downscale: '0 12 * * *', ...part }],
  });
  const delay = (delayBetweenBatches: string) => ({ ...good, upscaleRateLimit: { batchSize: 1, delayBetweenBatches } });
  const requirement = (operator: string, values?: readonly string[]) => ({
    ...good,
    excludeLabels: { matchExpressions: [{ key: 'a', operator, ...(values === undefined ? {} : { values }) }] },
  });

  it.each([
    ['no namespaces', without('namespaces'), 'spec', NO_NAMESPACES],
    ['an empty list alone', { ...good, namespaces: [] }, 'spec', NO_NAMESPACES],
    ['four fields', { ...good, upscale: '6 * * 1-5' }, 'spec.upscale', 'expected five fields: minute, hour'],
    ['six fields', { ...good, downscale: '0 0 6 * * *' }, 'spec.downscale', 'expected five fields: minute, hour'],
    ['a macro', { ...good, upscale: '@daily' }, 'spec.upscale', 'such as "0 6 * * 1-5" in place of a macro'],
    [
      'a time zone in a pattern',
      { ...good, downscale: 'CRON_TZ=UTC 0 6 * * *' },
      'spec.downscale',
      'set spec.timezone',
    ],
    ['the other word for it', { ...good, upscale: 'tz=UTC 0 6 * * *' }, 'spec.upscale', 'set spec.timezone'],
    ['a batch of nothing', { ...good, upscaleRateLimit: { batchSize: 0 } }, 'spec.upscaleRateLimit.batchSize', '1'],
    ['a delay in words', delay('5 minutes'), 'spec.upscaleRateLimit.delayBetweenBatches', 'should match'],
    ['a negative delay', delay('-5s'), 'spec.upscaleRateLimit.delayBetweenBatches', 'should match'],
    ['a long delay', delay('24h1s'), 'spec.upscaleRateLimit.delayBetweenBatches', `expected at most ${LONGEST_WAIT}`],
    ['an endless delay', delay('99999999999h'), 'spec.upscaleRateLimit.delayBetweenBatches', 'expected at most'],
    [
      'a long wait',
      { ...good, readinessTimeout: '2000m' },
      'spec.readinessTimeout',
      `expected at most ${LONGEST_WAIT}`,
    ],
    [
      'a long grace',
      { ...good, newWorkloadGrace: '200h' },
      'spec.newWorkloadGrace',
      `expected at most ${LONGEST_GRACE}`,
    ],
    ['In without values', requirement('In'), 'spec.excludeLabels.matchExpressions[0]', 'at least one value with In'],
    [
      'Exists with values',
      requirement('Exists', ['b']),
      'spec.excludeLabels.matchExpressions[0]',
      'and none with Exists',
    ],
    ['a 31 April', exception('2026-04-31'), 'spec.exceptions[0].from', 'expected a day that the month has'],
    ['a 30 February', exception('02-01', '02-30'), 'spec.exceptions[0].to', 'expected a day that the month has'],
    ['a leap day without one', exception('2100-02-29'), 'spec.exceptions[0].from', 'that year has no 29 February'],
    ['two forms', exception('12-24', '2026-12-26'), 'spec.exceptions[0]', 'in the same form'],
    ['an end before the begin', exception('2026-12-24', '2026-12-23'), 'spec.exceptions[0]', 'not before the first'],
    ['another state', { ...good, exceptions: [{ from: '12-24', state: 'Off' }] }, 'spec.exceptions[0].state', '"Down"'],
    ['a wildcard', { ...good, excludeNamespaces: ['kube-*'] }, 'spec.excludeNamespaces[0]', 'should match'],
    ['a window without a count', window({}), 'spec.windows[0]', 'expected either replicas or percent'],
    [
      'a window with two',
      window({ replicas: 1, percent: 5 }),
      'spec.windows[0]',
      'expected either replicas or percent',
    ],
    [
      'a macro of a window',
      window({ replicas: 1, upscale: '@daily' }),
      'spec.windows[0].upscale',
      'in place of a macro',
    ],
    ['another kind', { ...good, workloadTypes: ['DaemonSet'] }, 'spec.workloadTypes[0]', '"StatefulSet"'],
    ['no downscale', without('downscale'), 'spec.downscale', 'Required'],
  ])('refuses %s and says what would be right, and the code finds the same', async (_, spec, field, message) => {
    const text = await refusal(spec);
    expect(text).toContain(`${field}: `);
    expect(text).toContain(message);
    const { spec: read, problems } = readSchedule({ spec });
    expect(read).toBeNull();
    expect(problems.map((problem) => problem.field).some((path) => path.startsWith(field))).toBe(true);
  });

  it('takes the longest lists of rules that it allows', async () => {
    const labels = { matchExpressions: fill(100, (n) => ({ key: `k${n}`, operator: 'In', values: ['v'] })) };
    const spec = {
      ...good,
      namespaces: fill(1000, (n) => `ns-${n}`),
      exceptions: fill(200, () => ({ from: '2026-12-24', to: '2026-12-26', state: 'Down' })),
      priorities: fill(50, (n) => ({ priority: n, selector: labels })),
    };
    expect(await refusal(spec)).toBe('');
  });

  it('refuses a new one with an empty selector that nobody confirmed; one that is there can be changed, and is warned of', async () => {
    const empty = { ...good, namespaceSelector: {} };
    for (const spec of [
      empty,
      { ...empty, allNamespaces: false },
      { ...empty, namespaceSelector: { matchLabels: {} } },
    ]) {
      expect(await refusal(spec)).toContain('expected allNamespaces: true');
    }
    await patch('', 'let-in-before', { spec: { suspend: true } });
    await patch('', 'let-in-before', { spec: { namespaceSelector: { matchLabels: {} } } });
    // One that never had it needs the confirmation as a new one does.
    await create('widened', good);
    await expect(patch('', 'widened', { spec: { namespaceSelector: {} } })).rejects.toThrow(/allNamespaces: true/);
    await patch('', 'widened', { spec: { namespaceSelector: {}, allNamespaces: true } });
    const { spec } = readSchedule({ spec: empty });
    expect(spec === null ? [] : scheduleWarnings(spec, [])).toContainEqual(
      expect.stringContaining('allNamespaces: true'),
    );
  });

  it('lets the controller work on one that was let in before there were rules: status, finalizer, deletion', async () => {
    const name = 'let-in-before';
    const status = {
      state: 'Unknown',
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Invalid',
          message: 'spec: selects no namespace',
          lastTransitionTime: '2026-11-20T10:00:00Z',
        },
      ],
    };
    const written = await patch('/status', name, { status });
    expect(written.status).toEqual(status);
    await custom.deleteClusterCustomObject({ ...schedules, name });
    await patch('', name, { metadata: { finalizers: null } });
    const gone = custom.getClusterCustomObject({ ...schedules, name });
    await expect(gone).rejects.toMatchObject({ code: 404 });
  });

  it('keeps a status as the controller writes it, and refuses a moment that is none', async () => {
    const name = 'with-status';
    await create(name, good);
    const status = {
      state: 'Down',
      lastUpscaleTime: '2026-11-20T06:00:00Z',
      nextUpscaleTime: '2026-11-23T06:00:00Z',
      observedGeneration: 1,
      namespaces: ['team-a'],
      workloadStats: { deploymentsManaged: 3, deploymentsScaled: 2 },
      scope: { digest: '0123456789abcdef', workloads: 3, leftAlone: [{ reason: 'AtRest', workloads: 1 }] },
      scalingProgress: { total: 3, completed: 2, failed: 1, inProgress: true },
      overrides: [{ kind: 'wake', since: '2026-11-20T20:00:00Z', until: '2026-11-20T23:00:00Z', by: 'alice' }],
      savedReplicaHours: '12.5',
      approved: { by: 'alice', at: '2026-11-19T10:00:00Z' },
    };
    expect((await patch('/status', name, { status })).status).toEqual(status);
    expect(readSchedule({ spec: good, status }).status).toEqual(status);
    await expect(patch('/status', name, { status: { lastUpscaleTime: 'today' } })).rejects.toThrow(/date-time/);
  });

  it('has the columns of the first implementation, and whether the schedule is ready', async () => {
    expect(await shownColumns()).toEqual([
      'Name',
      'State',
      'Upscale',
      'Downscale',
      'Suspended',
      'Ready',
      'Saved',
      'Age',
    ]);
  });
});

describe('the examples', () => {
  it('are all let in, have no problems, warn of nothing, and are about schedules only', async () => {
    const files = await readdir(`${DEPLOY}examples/lights-out`);
    const names: string[] = [];
    for (const file of files) {
      for (const object of await objectsOf(`examples/lights-out/${file}`)) {
        expect(object.kind).toBe(KIND);
        await apply(object);
        const { spec, problems } = readSchedule(object);
        const warnings = spec === null ? [] : scheduleWarnings(spec, [], { now: Date.UTC(2026, 10, 20) });
        expect({ file, problems, warnings }).toEqual({ file, problems: [], warnings: [] });
        names.push(object.metadata?.name ?? '');
      }
    }
    expect(new Set(names).size).toBe(files.length);
    expect(files.length).toBeGreaterThanOrEqual(7);
  });
});

describe('the webhooks', () => {
  it('keep nobody from a schedule while no starter answers', async () => {
    const { metadata } = await create('nobody-answers', good);
    expect(metadata?.name).toBe('nobody-answers');
  });
});

describe('the roles', () => {
  const lightsOut = { group: GROUP, resource: PLURAL };
  const secrets = { group: '', resource: 'secrets', namespace: SYSTEM };
  const own = 'headroom-lights-out';
  const validating = { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' };
  const workloads: readonly V1ResourceAttributes[] = Object.values(WORKLOAD_KINDS).map(
    ({ resource: { group, resource } }) => ({ group, resource }),
  );
  const autoscalers: readonly V1ResourceAttributes[] = [
    { group: 'autoscaling', resource: 'horizontalpodautoscalers' },
    { group: 'keda.sh', resource: 'scaledobjects' },
  ];
  const each = (verbs: readonly string[], resources: readonly V1ResourceAttributes[]) =>
    resources.flatMap((resource) => verbs.map((verb) => Object.assign({ verb }, resource)));

  it.each<[string, readonly V1ResourceAttributes[], readonly V1ResourceAttributes[]]>([
    [
      'headroom-worker',
      [
        ...each(['get', 'list', 'patch'], [...workloads, lightsOut]),
        ...each(['list', 'patch'], autoscalers),
        { ...lightsOut, subresource: 'status', verb: 'patch' },
        { group: '', resource: 'namespaces', verb: 'list' },
        { group: '', resource: 'events', verb: 'create' },
      ],
      [
        ...each(['create', 'update', 'delete', 'deletecollection'], [...workloads, ...autoscalers, lightsOut]),
        ...each(['get', 'list'], [secrets]),
        { group: 'apps', resource: 'daemonsets', verb: 'patch' },
        { group: '', resource: 'namespaces', verb: 'patch' },
        { ...validating, verb: 'patch', name: own },
      ],
    ],
    [
      'headroom-starter',
      [
        ...each(['list', 'watch'], [lightsOut, ...workloads, { group: '', resource: 'namespaces' }]),
        ...each(['get', 'update'], [{ ...secrets, name: 'headroom-lights-out-tls' }]),
        ...each(['get', 'patch'], [{ ...validating, name: own }]),
        ...each(['get', 'patch'], [{ ...validating, resource: 'mutatingwebhookconfigurations', name: own }]),
      ],
      [
        ...each(['create', 'patch', 'update', 'delete'], [...workloads, lightsOut]),
        { ...lightsOut, subresource: 'status', verb: 'patch' },
        ...each(['get', 'update', 'list'], [secrets, { ...secrets, name: 'another' }]),
        ...each(['create'], [secrets, { ...secrets, namespace: 'default' }]),
        ...each(['get', 'patch'], [validating, { ...validating, name: 'another' }]),
      ],
    ],
  ])('of %s are just what it needs', async (account, allowed, denied) => {
    const answers = async (all: readonly V1ResourceAttributes[]) =>
      await Promise.all(all.map(async (attributes) => ({ attributes, allowed: await mayDo(account, attributes) })));
    expect((await answers(allowed)).filter((answer) => !answer.allowed)).toEqual([]);
    expect((await answers(denied)).filter((answer) => answer.allowed)).toEqual([]);
  });
});

function without(field: keyof typeof good): Partial<typeof good> {
  const { [field]: _, ...rest } = good;
  return rest;
}

function fill<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

type Schedule = KubernetesObject & { readonly spec?: unknown; readonly status?: unknown };

async function create(name: string, spec: object, finalizers: readonly string[] = []): Promise<Schedule> {
  const body = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name, finalizers }, spec };
  return (await custom.createClusterCustomObject({ ...schedules, body })) as Schedule;
}

/** What the API server says against a schedule; empty when it would take it. */
async function refusal(spec: object): Promise<string> {
  const body = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name: 'tried' }, spec };
  try {
    await custom.createClusterCustomObject({ ...schedules, body, dryRun: 'All' });
    return '';
  } catch (error) {
    if (!(error instanceof ApiException) || error.code !== 422) throw error;
    return (JSON.parse(String(error.body)) as { message: string }).message;
  }
}

/** A merge patch, of the object or of its status. */
async function patch(subresource: '' | '/status', name: string, body: object): Promise<Schedule> {
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  const at = { ...schedules, name, body };
  return (
    subresource === ''
      ? await custom.patchClusterCustomObject(at, merge)
      : await custom.patchClusterCustomObjectStatus(at, merge)
  ) as Schedule;
}

/** The definition as if it had none of the rules: types only. */
function withoutRules(): object {
  return JSON.parse(
    JSON.stringify(lightsOutDefinition(), (key, value: unknown) =>
      key === 'x-kubernetes-validations' ? undefined : value,
    ),
  ) as object;
}

async function applyDefinition(definition: object): Promise<void> {
  // The client has names of its own for keywords such as x-kubernetes-validations, and sends no other; this reads them.
  await apply(loadYaml<V1CustomResourceDefinition>(stringify(definition)));
  const extensions = config.makeApiClient(ApiextensionsV1Api);
  await eventually('schedules are known', async () => {
    const { status } = await extensions.readCustomResourceDefinition({ name: `${PLURAL}.${GROUP}` });
    await custom.listClusterCustomObject(schedules);
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  });
}

async function objectsOf(file: string): Promise<KubernetesObject[]> {
  return parseAllDocuments(await readFile(`${DEPLOY}${file}`, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    return document.toJS() as KubernetesObject;
  });
}

/** Server-side apply refuses a field that the type does not have. */
async function apply(object: KubernetesObject): Promise<void> {
  const api = KubernetesObjectApi.makeApiClient(config);
  await api.patch(object, undefined, undefined, 'manifests-test', true, PatchStrategy.ServerSideApply);
}

async function mayDo(account: string, resourceAttributes: V1ResourceAttributes): Promise<boolean> {
  const { status } = await config.makeApiClient(AuthorizationV1Api).createSubjectAccessReview({
    body: { spec: { user: `system:serviceaccount:${SYSTEM}:${account}`, resourceAttributes } },
  });
  return status?.allowed ?? false;
}

/** The heads of what `kubectl get` shows. */
async function shownColumns(): Promise<readonly string[]> {
  const answer = await createApiGet(config)(`/apis/${GROUP}/${VERSION}/${PLURAL}`, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  });
  if (answer.kind !== 'answer') throw new Error('the API server sent no table');
  const { columnDefinitions } = answer.body as {
    columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  };
  return columnDefinitions.filter(({ priority }) => priority === 0).map(({ name }) => name);
}
