/** The overview for others: a real starter under its own roles, and a real API server that says who may read it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { chartObjects } from '../../kernel/stack/chart.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type HeadroomPlane, startHeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { applyObjects } from '../../kernel/stack/manifests.ts';
import { send } from '../admission/tls.ts';

const NAMESPACE = 'readers';
const values = { overview: { certificate: 'overview-tls' } };

let plane: HeadroomPlane;
let folder: string;
let url: string;
let ca: string;
/** Tokens of service accounts by their names: `reader` may read it, `stranger` not. */
const tokens: Record<string, string> = {};

beforeAll(async () => {
  const authority = await issueAuthority(Date.now());
  const pair = await issueServer('127.0.0.1', authority, Date.now());
  ca = authority.certificate;
  folder = await mkdtemp(join(tmpdir(), 'headroom-overview-'));
  await writeFile(join(folder, 'tls.crt'), pair.certificate);
  await writeFile(join(folder, 'tls.key'), pair.key);
  plane = await startHeadroomPlane({ values });
  const core = accessOf(plane.plane.adminKubeconfig).makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
  for (const name of ['reader', 'stranger']) {
    await core.createNamespacedServiceAccount({ namespace: NAMESPACE, body: { metadata: { name } } });
    const { status } = await core.createNamespacedServiceAccountToken({
      name,
      namespace: NAMESPACE,
      body: { spec: { audiences: [] } },
    });
    tokens[name] = status?.token ?? '';
  }
  const [reader] = (await chartObjects(values)).filter(({ metadata }) => metadata?.name === 'headroom-overview-reader');
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'readers-of-the-overview' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'headroom-overview-reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: NAMESPACE }],
  };
  await applyObjects(plane.plane.adminKubeconfig, [reader ?? {}, binding]);
  const starter = await plane.startStarter({ HEADROOM_OVERVIEW_CERTIFICATE: folder });
  const log = await readFile(starter.logFile, 'utf8');
  [, url = ''] = /"url":"([^"]+)","msg":"the starter serves the overview to whoever/.exec(log) ?? [];
  // The certificate is read after the port listens.
  await eventually('the overview has its certificate', async () => (await ask()).status === 401);
});
afterAll(async () => {
  await plane?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(headers: Readonly<Record<string, string>> = {}) {
  return await send(url, { ca, method: 'GET', headers, servername: '127.0.0.1' });
}

const bearer = (token = ''): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

describe('the opened overview', () => {
  it('is shown to whoever the API server lets read it, under whatever name it is reached', async () => {
    const shown = await ask({ ...bearer(tokens['reader']), host: 'headroom.example.com' });
    expect(shown.status).toBe(200);
    expect(shown.body).toContain('<h1>Headroom in test</h1>');
    expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
    const asPassword = Buffer.from(`alice:${tokens['reader']}`).toString('base64');
    expect((await ask({ authorization: `Basic ${asPassword}` })).status).toBe(200);
  });

  it('is not shown to whoever has no such right, and says which right that is', async () => {
    expect(await ask(bearer(tokens['stranger']))).toMatchObject({
      status: 403,
      body: `system:serviceaccount:${NAMESPACE}:stranger may not get /headroom/overview: bind the ClusterRole headroom-overview-reader.\n`,
    });
  });

  it('asks for a token where there is none, or one that the API server does not know', async () => {
    expect((await ask()).headers['www-authenticate']).toContain('Basic realm=');
    expect(await ask(bearer(`${tokens['reader']}x`))).toMatchObject({ status: 401 });
  });
});
