import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListeningServer } from '../../../platform/health/health.ts';
import type { OverviewQuestion, Waiting } from '../../../starter/overview/part.ts';
import { serveOverview } from '../../../starter/overview/server.ts';
import { NOW } from './quotas.ts';

let server: ListeningServer;
const asked: OverviewQuestion[] = [];
let isBroken = false;

const line = (what: string, workflow: string, other: Partial<Waiting> = {}): Waiting => ({
  what,
  whom: 'a person',
  isForPeople: true,
  since: null,
  why: 'It is blocked.',
  links: [],
  workflow,
  command: null,
  ...other,
});
const listed = [
  line('quota team-a/compute', 'w-1'),
  line('node group pool-1', 'w-2'),
  line('quota team-a/objects', 'w-3', { command: 'kubectl headroom status team-a/objects' }),
];
/** What nobody else has to do, by what the controller can see. */
const nobodys = line('quota team-a/objects', 'w-3', {
  whom: 'Headroom',
  isForPeople: false,
  since: NOW - 1_000,
  why: 'The pull request is opened.',
  links: [{ text: 'Pull request #7', url: 'https://github.example.com/acme/gitops/pull/7' }],
});

beforeAll(async () => {
  server = await serveOverview({
    address: { host: '127.0.0.1', port: 0 },
    cluster: 'c1',
    overviews: [
      (question) => {
        if (isBroken) throw new Error('the secret reason');
        asked.push(question);
        return { waiting: [line('quota team-a/compute, by its Lease', 'w-1'), nobodys], tables: [] };
      },
    ],
    workflows: {
      refresh: async () => {},
      waiting: (namespace) => (namespace === 'team-b' ? [] : listed),
      trouble: null,
    },
    workflowUrl: () => null,
    troubles: () => [],
    log: pino({ level: 'silent' }),
    now: () => NOW,
  });
});

afterAll(async () => await server.close());

async function ask(path: string, { method = 'GET', host }: { method?: string; host?: string } = {}) {
  const { port } = new URL(server.url);
  return await new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const headers = { host: host ?? `localhost:${port}` };
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    sent.on('error', reject).end();
  });
}

describe('the port of the overview', () => {
  it('answers with a page that may load, run and frame nothing, and whose one style sheet is its own', async () => {
    const { status, headers, body } = await ask('/');
    expect(status).toBe(200);
    const nonce = /<style nonce="([^"]+)">/.exec(body)?.[1] ?? '';
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      refresh: '30',
    });
    expect(body).not.toMatch(/<script| on[a-z]+=| style=/);
    expect(/<style nonce="([^"]+)">/.exec((await ask('/')).body)?.[1]).not.toBe(nonce);
  });

  it('is read only: HEAD has no body, and what is neither GET nor HEAD is refused', async () => {
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expect(await ask('/', { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    }
    expect((await ask('/metrics')).status).toBe(404);
  });

  it.each(['localhost', 'localhost:9000', 'LOCALHOST:9000', '127.0.0.1:80', '[::1]:8083'])(
    'takes %s as the host',
    async (host) => {
      expect((await ask('/', { host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example.com',
    '127.evil.example.com',
    'localhost.evil.example.com',
    '10.0.0.1',
    '[::2]',
    '127.0.0.1.nip.io',
  ])('refuses %s as the host, whose page could otherwise read this one by a name that leads here', async (host) => {
    expect(await ask('/', { host })).toMatchObject({ status: 421 });
  });

  it('takes a namespace, pages and whether it is loaded again from the address', async () => {
    const { headers } = await ask('/?namespace=+Team-A+&refresh=off&quotas=2&waiting=0');
    expect(headers['refresh']).toBeUndefined();
    expect(asked.at(-1)).toMatchObject({ namespace: 'team-a', now: NOW });
    const { body } = await ask('/?namespace=%3Cscript%3E');
    expect(asked.at(-1)?.namespace).toBeNull();
    expect(body).toContain('&quot;&lt;script&gt;&quot; is no name of a namespace: all are shown.');
  });

  it('has of the workflows that Temporal lists those of which no controller says more', async () => {
    const { body } = await ask('/');
    expect(body).toContain('quota team-a/compute, by its Lease');
    expect(body).not.toContain('>quota team-a/compute<');
    expect(body).toContain('>node group pool-1<');
    expect((await ask('/?namespace=team-b')).body).not.toContain('node group pool-1');
  });

  it('has what waits for a person by Temporal, where the controller sees nobody who has to act', async () => {
    const { body } = await ask('/');
    expect(body).not.toContain('The pull request is opened.');
    const [, row = ''] = /<tr role="row">(<th [^>]*>quota team-a\/objects<.*)/.exec(body) ?? [];
    expect(body.match(/>quota team-a\/objects</g)).toHaveLength(1);
    expect(row).toContain('a person');
    expect(row).toContain('It is blocked.');
    expect(row).toContain('not known');
    expect(row).toContain('Pull request #7');
    expect((await ask('/?namespace=team-b')).body).toContain('The pull request is opened.');
  });

  it('is loaded again after an answer that says that something is wrong at the moment', async () => {
    isBroken = true;
    const { headers } = await ask('/');
    const { headers: stopped } = await ask('/?refresh=off');
    isBroken = false;
    expect(headers['refresh']).toBe('30');
    expect(stopped['refresh']).toBeUndefined();
    expect((await ask('/there')).headers['refresh']).toBeUndefined();
  });

  it.each(['/%zz', '/%', '/?namespace=%zz', '/%00', '//', '/..//', 'http://localhost/'])(
    'answers %s with the same headers, and says nothing of itself',
    async (path) => {
      const { headers, body } = await ask(path);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(body).not.toContain('FST_ERR');
    },
  );

  it('says where a failure is explained, and not the failure', async () => {
    isBroken = true;
    const { status, body, headers } = await ask('/');
    isBroken = false;
    expect(status).toBe(500);
    expect(body).toBe('The overview could not be shown; the log of the starter says why.\n');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });
});
