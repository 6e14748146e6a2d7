/** The admission webhooks, called by a real API server, under the roles for their certificate and nothing else. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AdmissionregistrationV1Api,
  CoreV1Api,
  type KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  RbacAuthorizationV1Api,
  type V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { selfMadeCertificate } from '../../../starter/admission/self-made.ts';
import {
  createAdmissionMetrics,
  type RunningAdmission,
  runAdmission,
  startAdmission,
} from '../../../starter/admission/start.ts';
import { type NamedSchedule, scheduleAdmission, scheduleWebhooks } from '../../../starter/lights-out/admission.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { loadConfig } from '../../../starter/config.ts';
import { Readiness } from '../../../platform/health/health.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { createLog } from '../../../platform/log/log.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { WEBHOOK_KINDS, templateObjects, webhookObjects } from '../../kernel/stack/chart.ts';
import { applyManifests, applyObjects } from '../../kernel/stack/manifests.ts';
import { type Answer, send, shownSerial } from '../admission/tls.ts';
import { accessOf } from '../../kernel/stack/access.ts';

const SYSTEM_NAMESPACE = 'namespace-resizer-system';
/** The API server takes the name of a service account for the account itself, so the manifests bind it as they are. */
const STARTER = `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-starter`;
/** May keep the Secret, and not touch the configurations. */
const KEEPER = 'keeper';
const NOBODY = 'nobody';
const TLS_SECRET = 'headroom-lights-out-tls';
const DAY_MS = 86_400_000;
const SCHEDULES = '/apis/lightsout.techsupport.mk/v1alpha1/lightsoutschedules';
const secretPlace = { name: TLS_SECRET, namespace: SYSTEM_NAMESPACE };
const configuration = { name: 'headroom-lights-out' };

const DEFINITION = new URL('../../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url);

let plane: ControlPlane;
let admin: KubeConfig;
let core: CoreV1Api;
let registrations: AdmissionregistrationV1Api;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: STARTER }, { name: KEEPER }, { name: NOBODY }]);
  admin = accessOf(plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  registrations = admin.makeApiClient(AdmissionregistrationV1Api);
  await applyManifests(plane.adminKubeconfig, [DEFINITION]);
  await applyObjects(plane.adminKubeconfig, await templateObjects('namespace', 'lights-out/webhook-rbac'));
  await applySecret();
  await admin.makeApiClient(RbacAuthorizationV1Api).createNamespacedRoleBinding({
    namespace: SYSTEM_NAMESPACE,
    body: {
      metadata: { name: KEEPER },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'headroom-starter-lights-out-webhook' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: KEEPER }],
    },
  });
  await eventually('schedules are served', async () => (await asAdmin('GET', SCHEDULES)).status === 200);
});

afterAll(async () => await plane?.stop());

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  const gone = (answer: Promise<unknown>) => answer.catch(() => {});
  await gone(registrations.deleteMutatingWebhookConfiguration(configuration));
  await gone(registrations.deleteValidatingWebhookConfiguration(configuration));
  await emptySecret();
  await asAdmin('DELETE', SCHEDULES);
});

/** The Secret of the certificate as it is deployed. */
async function emptySecret(): Promise<void> {
  await core.deleteNamespacedSecret(secretPlace).catch(() => {});
  await applySecret();
}

/** Applies the Secret of the certificate as it is deployed. */
async function applySecret(): Promise<void> {
  await applyObjects(plane.adminKubeconfig, await webhookObjects('lights-out', 'Secret'));
}

/** The Secret of the certificate, with these parts. */
async function fillSecret(stringData: Readonly<Record<string, string>>): Promise<void> {
  const secret = await core.readNamespacedSecret(secretPlace);
  await core.replaceNamespacedSecret({ ...secretPlace, body: Object.assign(secret, { stringData }) });
}

/** What the API server answers the admin, with its headers. */
async function asAdmin(method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const { server, caData = '' } = admin.getCurrentCluster() ?? {};
  return await send(`${server}${path}`, {
    ca: Buffer.from(caData, 'base64'),
    method,
    headers: { authorization: `Bearer ${admin.getCurrentUser()?.token}`, ...headers },
    body,
  });
}

const good = { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', timezone: 'Europe/Berlin', namespaces: ['team-a'] };

const scheduleOf = (name: string, spec: object, metadata = {}) => ({
  apiVersion: 'lightsout.techsupport.mk/v1alpha1',
  kind: 'LightsOutSchedule',
  metadata: { name, ...metadata },
  spec,
});

const create = async (name: string, spec: object, { dryRun = false, metadata = {} } = {}): Promise<Answer> =>
  await asAdmin('POST', `${SCHEDULES}${dryRun ? '?dryRun=All' : ''}`, scheduleOf(name, spec, metadata));

const merge = async (name: string, body: object): Promise<Answer> =>
  await asAdmin('PATCH', `${SCHEDULES}/${name}`, body, { 'content-type': 'application/merge-patch+json' });

const messageOf = ({ body }: Answer): string => (body as { message?: string }).message ?? '';

interface Line {
  readonly level: string;
  readonly msg: string;
}

interface RunningStarter extends RunningAdmission {
  readonly lines: readonly Line[];
  readonly readiness: Readiness;
  readonly metrics: Registry;
}

function kubeConfigOf(user: string): KubeConfig {
  const kubeconfig = plane.kubeconfigFor(user);
  return loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: 30_000 }, {});
}

function recorder(): { readonly lines: Line[]; readonly log: ReturnType<typeof createLog> } {
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  return { lines, log: createLog({ name: 'starter', level: 'info', destination: { write } }) };
}

/** A starter's webhooks with a certificate that it makes; it looks at the Secret all the time. */
async function startWebhooks({
  user = STARTER,
  now = Date.now,
  everyMs = 100,
  others = () => [],
}: {
  readonly user?: string;
  readonly now?: () => number;
  readonly everyMs?: number;
  readonly others?: () => readonly NamedSchedule[];
} = {}): Promise<RunningStarter> {
  const { lines, log } = recorder();
  const readiness = new Readiness();
  const metrics = new Registry();
  const failures: unknown[] = [];
  const webhooks = {
    ...scheduleWebhooks(() => ({ others: others(), protectedNamespaces: [], now: now() })),
    address: { host: '127.0.0.1', port: 0 },
  };
  const admission = await runAdmission({
    webhooks,
    source: selfMadeCertificate({
      webhooks,
      kubeConfig: kubeConfigOf(user),
      systemNamespace: SYSTEM_NAMESPACE,
      host: '127.0.0.1',
      log,
      everyMs,
      now,
    }),
    metrics: createAdmissionMetrics(metrics),
    readiness,
    log,
    signal: new AbortController().signal,
    fail: (error) => failures.push(error),
    now,
  });
  cleanups.push(async () => {
    await admission.close();
    expect(failures).toEqual([]);
  });
  return { ...admission, lines, readiness, metrics };
}

/** The configurations of deploy, which call this address, and fail where nobody answers. */
async function callWebhooksAt(url: string, more: object = {}): Promise<void> {
  const objects = admin.makeApiClient(KubernetesObjectApi);
  const configurations = await webhookObjects('lights-out', ...WEBHOOK_KINDS);
  for (const object of configurations as readonly V1ValidatingWebhookConfiguration[]) {
    for (const webhook of object.webhooks ?? []) {
      const path = webhook.clientConfig.service?.path;
      webhook.clientConfig = { url: `${url}${path}`, ...more };
      webhook.failurePolicy = 'Fail';
      // The most that there are: this process serves them between all else that it does, and may have to wait for its turn.
      webhook.timeoutSeconds = 30;
    }
    await objects.patch(object, undefined, undefined, 'headroom-setup', true, PatchStrategy.ServerSideApply);
  }
}

/**
 * Waits until the API server asks both webhooks, which it hears of one by one: an impossible schedule is refused with the own
 * words of the one, and the other gives a time zone to a schedule that has none.
 */
async function asked(): Promise<void> {
  await eventually('the API server asks the webhooks', async () => {
    const refused = await create('probe', { ...good, timezone: 'Nowhere/Else' }, { dryRun: true });
    if (!messageOf(refused).includes('"validate.lightsout.techsupport.mk" denied the request')) return false;
    const { status, body } = await create('probe', { ...good, timezone: '' }, { dryRun: true });
    return status === 201 && (body as { spec: { timezone: string } }).spec.timezone === 'UTC';
  });
}

/** A starter that the API server asks. */
async function startAsked(options: Parameters<typeof startWebhooks>[0] = {}): Promise<RunningStarter> {
  const starter = await startWebhooks(options);
  await callWebhooksAt(starter.url);
  await asked();
  return starter;
}

async function secretText(key: string): Promise<string> {
  const { data = {} } = await core.readNamespacedSecret(secretPlace);
  return Buffer.from(data[key] ?? '', 'base64').toString();
}

async function trustedBundles(): Promise<string[]> {
  const both = [
    await registrations.readMutatingWebhookConfiguration(configuration),
    await registrations.readValidatingWebhookConfiguration(configuration),
  ];
  return both.flatMap(({ webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
  );
}

const shown = async ({ url }: RunningAdmission): Promise<string> => await shownSerial(url, await secretText('ca.crt'));

const isReady = ({ readiness }: RunningStarter): boolean => readiness.report().ready;

/** Asks for a good schedule again and again, without storing it; ends with how often, and what went wrong. */
function keepAsking(): () => Promise<{ readonly count: number; readonly problems: readonly string[] }> {
  const over = new AbortController();
  let count = 0;
  const problems: string[] = [];
  const asking = (async () => {
    while (!over.signal.aborted) {
      const answer = await create('steady', good, { dryRun: true });
      count += 1;
      if (answer.status !== 201) problems.push(messageOf(answer));
    }
  })();
  const end = async () => {
    over.abort();
    await asking;
    return { count, problems };
  };
  cleanups.push(end);
  return end;
}

describe('a schedule that is applied', () => {
  it('is refused where it is impossible, with everything that is wrong with it, and else stored', async () => {
    const starter = await startAsked();
    const zone = await create('nights', { ...good, timezone: 'Europe/Berlni' });
    expect(zone.status).toBe(422);
    expect(messageOf(zone)).toMatch(/denied the request: spec\.timezone: .*Europe\/Berlni/);
    const never = await create('nights', { ...good, upscale: '0 6 31 2 *', timezone: 'Mars/Olympus' });
    expect(never.status).toBe(422);
    expect(messageOf(never)).toMatch(/denied the request: spec\.upscale: .*; spec\.timezone: /);
    expect((await create('nights', good)).status).toBe(201);
    const update = await merge('nights', { spec: { downscale: '0 6 30 2 *' } });
    expect(update.status).toBe(422);
    expect(messageOf(update)).toMatch(/denied the request: spec\.downscale: /);
    expect((await merge('nights', { spec: { downscale: '0 19 * * 1-5' } })).status).toBe(200);
    expect(starter.lines.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^the LightsOutSchedule nights was denied: spec\.timezone: /),
    );
    expect(await starter.metrics.metrics()).toContain(
      'headroom_admission_requests_total{webhooks="headroom-lights-out",operation="UPDATE",allowed="false"} 1',
    );
  });

  it('gets a time zone where it names none', async () => {
    await startAsked();
    const { timezone: _absent, ...without } = good;
    for (const [name, spec] of Object.entries({ empty: { ...good, timezone: '' }, absent: without })) {
      expect(await create(name, spec)).toMatchObject({ status: 201, body: { spec: { timezone: 'UTC' } } });
    }
    expect(await create('named', good)).toMatchObject({ status: 201, body: { spec: { timezone: 'Europe/Berlin' } } });
  });

  it('is stored with a warning where another one has the same namespaces', async () => {
    const { spec } = readSchedule(scheduleOf('weekends', good));
    await startAsked({ others: () => (spec === null ? [] : [{ name: 'weekends', spec }]) });
    const answer = await create('nights', good);
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toMatch(/^299 - ".*weekends.*"$/);
    const apart = await create('elsewhere', { ...good, namespaces: ['team-b'] });
    expect(apart.status).toBe(201);
    expect(apart.headers['warning']).toBeUndefined();
  });

  it('that was let in while nobody looked can be deleted, finalizer and all, and repaired, but not left wrong', async () => {
    const bad = { ...good, timezone: '', upscale: '0 6 31 2 *' };
    const finalizers = ['lightsout.techsupport.mk/cleanup'];
    for (const name of ['doomed', 'wrong']) {
      await eventually('it is stored', async () => (await create(name, bad)).status === 201);
    }
    await startAsked();
    expect(await merge('doomed', { metadata: { finalizers } })).toMatchObject({ status: 200, body: { spec: bad } });
    expect((await asAdmin('DELETE', `${SCHEDULES}/doomed`)).status).toBe(200);
    expect((await merge('doomed', { metadata: { finalizers: [] } })).status).toBe(200);
    expect((await asAdmin('GET', `${SCHEDULES}/doomed`)).status).toBe(404);

    expect((await merge('wrong', { spec: { suspend: true } })).status).toBe(422);
    expect((await merge('wrong', { spec: { upscale: good.upscale } })).status).toBe(200);
  });
});

describe('the certificate that starters make', () => {
  it('is one for all of them, in a Secret, whoever comes first', async () => {
    const starters = await Promise.all([startWebhooks(), startWebhooks(), startWebhooks(), startWebhooks()]);
    for (const starter of starters) await eventually('the starter is ready', () => isReady(starter));
    const serials = await Promise.all(starters.map(shown));
    expect(new Set(serials).size).toBe(1);
    expect(starters.flatMap(({ lines }) => lines).filter(({ msg }) => msg.includes('was renewed'))).toHaveLength(1);
    const secret = await core.readNamespacedSecret(secretPlace);
    expect(secret.type).toBe('Opaque');
    expect(Object.keys(secret.data ?? {}).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    const keys = [await secretText('tls.key'), await secretText('ca.key')];
    const log = JSON.stringify(starters.map(({ lines }) => lines));
    for (const key of keys) expect(log).not.toContain(key.split('\n')[1]);
  });

  it('is renewed by one and taken over by the others when a third of its life is left', async () => {
    let now = Date.now() - 61 * DAY_MS;
    const server = await startAsked({ now: () => now });
    const other = await startWebhooks({ now: () => now });
    await eventually('the other is ready', () => isReady(other));
    const before = await shown(server);
    const authority = await secretText('ca.crt');
    expect(await shown(other)).toBe(before);
    const end = keepAsking();
    now = Date.now();
    await eventually('both show another one', async () => {
      const [first, second] = [await shown(server), await shown(other)];
      return first !== before && first === second;
    });
    await asked();
    expect((await end()).problems).toEqual([]);
    expect(await secretText('ca.crt')).toBe(authority);
    const until = Math.floor(now / 1000) + 90 * 86_400;
    for (const { metrics } of [server, other]) {
      await eventually('the end of the new certificate is told', async () =>
        (await metrics.metrics()).includes(
          `headroom_admission_certificate_expiry_timestamp_seconds{webhooks="headroom-lights-out"} ${until}`,
        ),
      );
    }
  });

  it('gets another authority without one call that fails', async () => {
    const authority = await issueAuthority(Date.now() - 1_240 * DAY_MS);
    const server = await issueServer('127.0.0.1', authority, Date.now() - 61 * DAY_MS);
    await fillSecret({
      'tls.crt': server.certificate,
      'tls.key': server.key,
      'ca.crt': authority.certificate,
      'ca.key': authority.key,
    });
    let now = Date.now() - 50 * DAY_MS;
    // The time that the API server has to hear of the new authority before that signs anything: a minute in production.
    const first = await startAsked({ now: () => now, everyMs: 5_000 });
    expect(await trustedBundles()).toEqual([authority.certificate, authority.certificate]);
    const end = keepAsking();
    now = Date.now();
    const newAuthority = await eventually('what is shown is of another authority', async () => {
      const [newest = ''] = /-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/.exec(await secretText('ca.crt')) ?? [];
      await shownSerial(first.url, newest);
      return newest !== authority.certificate && newest;
    });
    const bundle = `${newAuthority}${authority.certificate}`;
    expect(await trustedBundles()).toEqual([bundle, bundle]);
    await asked();
    const steps = first.lines.map(({ msg }) => msg).filter((msg) => / ends soon$| trusts /.test(msg));
    expect(steps.slice(-4)).toEqual([
      expect.stringMatching(/: its authority ends soon$/),
      expect.stringMatching(/^the Mutating.* trusts /),
      expect.stringMatching(/^the Validating.* trusts /),
      expect.stringMatching(/: it ends soon$/),
    ]);
    const { count, problems } = await end();
    expect(problems).toEqual([]);
    expect(count).toBeGreaterThan(1);
    // A starter at another address is met with a new connection.
    const second = await startWebhooks();
    await eventually('the second is ready', () => isReady(second));
    await callWebhooksAt(second.url);
    await first.close();
    await asked();
  });

  it('replaces what is no certificate, and what is for another host', async () => {
    await core.deleteNamespacedSecret(secretPlace);
    // Of a release whose starters created it.
    const old = { 'tls.crt': 'nothing', 'tls.key': '' };
    await core.createNamespacedSecret({
      namespace: SYSTEM_NAMESPACE,
      body: { metadata: { name: TLS_SECRET, labels: { mine: 'too' } }, type: 'kubernetes.io/tls', stringData: old },
    });
    const starter = await startAsked();
    const first = await shown(starter);
    const { metadata, type } = await core.readNamespacedSecret(secretPlace);
    expect(metadata?.labels).toEqual({ mine: 'too' });
    expect(type).toBe('kubernetes.io/tls');
    // Applying the manifest again takes nothing away, also from a Secret of another type.
    await applySecret();
    expect(await shown(starter)).toBe(first);
    const authority = { certificate: await secretText('ca.crt'), key: await secretText('ca.key') };
    const { certificate, key } = await issueServer('elsewhere.svc', authority, Date.now());
    const data = { 'tls.crt': btoa(certificate), 'tls.key': btoa(key) };
    const secret = await core.readNamespacedSecret(secretPlace);
    secret.data = { ...secret.data, ...data };
    await core.replaceNamespacedSecret({ ...secretPlace, body: secret });
    await eventually('it is made anew', async () => (await shown(starter)) !== first);
    expect(starter.lines.map(({ msg }) => msg)).toContain(
      `the Secret ${TLS_SECRET} was renewed for 127.0.0.1: it is not for 127.0.0.1`,
    );
    await core.deleteNamespacedSecret(secretPlace);
    await eventually('its absence is logged', () =>
      starter.lines.some(
        ({ level, msg }) => level === 'warn' && msg.includes(`no Secret ${SYSTEM_NAMESPACE}/${TLS_SECRET}`),
      ),
    );
    await asked();
    await emptySecret();
    await eventually('it is filled again', async () => (await secretText('ca.key')) !== '');
    await asked();
  });

  it('is waited for where its Secret is not deployed, which the readiness says', async () => {
    await core.deleteNamespacedSecret(secretPlace);
    const starter = await startWebhooks();
    const reason = await eventually('the reason is known', () => {
      const status = starter.readiness.report().conditions['admission webhooks headroom-lights-out'];
      return status !== undefined && !status.ready && status.reason.includes('no Secret') && status.reason;
    });
    expect(reason).toContain('which webhooks.certificates: self of the chart deploys empty: apply it');
    await emptySecret();
    await eventually('the starter is ready', () => isReady(starter));
  });

  it('goes on while the API server is away, and the process stays ready', async () => {
    const starter = await startAsked();
    const authorities = await secretText('ca.crt');
    const before = await shownSerial(starter.url, authorities);
    await plane.killApiServer();
    await eventually('it is said', () =>
      starter.lines.some(({ level, msg }) => level === 'warn' && msg.includes('goes on')),
    );
    expect(await shownSerial(starter.url, authorities)).toBe(before);
    expect(isReady(starter)).toBe(true);
    await plane.startApiServer();
    await eventually('it is back', () => starter.lines.some(({ msg }) => msg.endsWith('can be read again')));
    await asked();
    expect(await shown(starter)).toBe(before);
  });

  it('is served where nobody may tell the API server of it, which is said once, with what is missing', async () => {
    const starter = await startWebhooks({ user: KEEPER });
    await callWebhooksAt(starter.url);
    await eventually('the starter is ready', () => isReady(starter));
    await shown(starter);
    const warnings = () => starter.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
    // An empty Secret is filled anew: the starter has looked again since. It is there all the time, so nothing warns of it.
    const secret = await core.readNamespacedSecret(secretPlace);
    await core.replaceNamespacedSecret({ ...secretPlace, body: Object.assign(secret, { data: {} }) });
    await eventually('it observes again', async () => (await secretText('ca.key')) !== '');
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^the CA bundle of the MutatingWebhookConfiguration headroom-lights-out may not .*cannot get resource/,
      ),
      expect.stringMatching(
        /^the CA bundle of the ValidatingWebhookConfiguration headroom-lights-out may not .*cannot get resource/,
      ),
    ]);
  });

  it('is told to configurations that come later; until then their absence is said once', async () => {
    const starter = await startWebhooks();
    await eventually('the starter is ready', () => isReady(starter));
    await callWebhooksAt(starter.url);
    await asked();
    const absences = starter.lines.filter(({ msg }) => msg.includes('there is no '));
    expect(absences.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      expect.stringMatching(/^info there is no MutatingWebhookConfiguration headroom-lights-out yet/),
      expect.stringMatching(/^info there is no ValidatingWebhookConfiguration headroom-lights-out yet/),
    ]);
  });

  it('is waited for without the rights to its Secret, which the readiness says', async () => {
    const starter = await startWebhooks({ user: NOBODY });
    const reason = await eventually('the reason is known', () => {
      const status = starter.readiness.report().conditions['admission webhooks headroom-lights-out'];
      return status !== undefined && !status.ready && status.reason.includes('403') && status.reason;
    });
    expect(reason).toContain(`secrets "${TLS_SECRET}" is forbidden`);
    expect(reason).toContain('the Role that comes with webhooks.certificates: self allows it');
  });
});

describe('a starter with settings', () => {
  /** What `startAdmission` is given in a process. */
  function processWith(env: Record<string, string>) {
    const { log } = recorder();
    const readiness = new Readiness();
    const steps: (() => Promise<void> | void)[] = [];
    const over = new AbortController();
    const failures: unknown[] = [];
    const config = loadConfig({
      env: { CLUSTER_NAME: 'test', POD_NAMESPACE: SYSTEM_NAMESPACE, ...env },
      argv: [],
      program: 'command line',
    });
    const headroom = {
      config,
      cluster: 'test',
      log,
      readiness,
      identity: 'starter',
      signal: over.signal,
      onStop: (_name: string, step: () => Promise<void> | void) => void steps.push(step),
      stop: (_reason: string, error?: unknown) => void failures.push(error),
      tracing: null,
    };
    cleanups.push(async () => {
      over.abort(new Error('stopping'));
      for (const step of steps) await step();
      expect(failures).toEqual([]);
    });
    return { headroom, readiness };
  }

  /** Starts what the process serves; null where that is nothing. */
  async function startConfigured(
    headroom: ReturnType<typeof processWith>['headroom'],
    user: string,
  ): Promise<RunningAdmission | null> {
    const webhooks = scheduleAdmission(headroom.config, () => []);
    if (webhooks === undefined) return null;
    const metrics = createAdmissionMetrics(new Registry());
    return await startAdmission(headroom, { kubeConfig: kubeConfigOf(user), metrics, webhooks });
  }

  it('serves no webhooks without an address', async () => {
    const { headroom } = processWith({});
    expect(await startConfigured(headroom, NOBODY)).toBeNull();
  });

  it('makes the certificate for the Service of its own namespace', async () => {
    const { headroom, readiness } = processWith({ HEADROOM_LIGHTS_OUT_WEBHOOK_ADDRESS: '127.0.0.1:0' });
    expect(await startConfigured(headroom, STARTER)).not.toBeNull();
    await eventually('the webhooks are ready', () => readiness.report().ready);
    const [{ X509Certificate }, certificate] = [await import('node:crypto'), await secretText('tls.crt')];
    expect(new X509Certificate(certificate).subjectAltName).toBe(`DNS:headroom-lights-out.${SYSTEM_NAMESPACE}.svc`);
  });

  it('needs no rights with a certificate that it is given, and tells nobody of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'headroom-admission-'));
    cleanups.push(async () => await rm(folder, { recursive: true }));
    const authority = await issueAuthority(Date.now());
    const { certificate, key } = await issueServer('127.0.0.1', authority, Date.now());
    await writeFile(join(folder, 'tls.crt'), certificate);
    await writeFile(join(folder, 'tls.key'), key);
    const { headroom, readiness } = processWith({
      HEADROOM_LIGHTS_OUT_WEBHOOK_ADDRESS: '127.0.0.1:0',
      HEADROOM_LIGHTS_OUT_WEBHOOK_CERTIFICATE: folder,
    });
    const admission = await startConfigured(headroom, NOBODY);
    await eventually('the webhooks are ready', () => readiness.report().ready);
    await callWebhooksAt(admission?.url ?? '', { caBundle: btoa(authority.certificate) });
    await asked();
    expect(await trustedBundles()).toEqual([authority.certificate, authority.certificate]);
    expect((await core.readNamespacedSecret(secretPlace)).data).toBeUndefined();
  });
});
