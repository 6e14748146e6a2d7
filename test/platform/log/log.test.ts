import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions, temporalLogger } from '../../../platform/log/log.ts';
import { Secret } from '../../../domain/kernel/settings/secret.ts';

/** A log that keeps its lines. */
function recorded(options: { level?: 'trace' | 'info'; secrets?: LogOptions['secrets'] } = {}) {
  const lines: string[] = [];
  const log = createLog({
    name: 'worker',
    level: options.level ?? 'trace',
    ...(options.secrets === undefined ? {} : { secrets: options.secrets }),
    destination: { write: (line) => void lines.push(line) },
  });
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('the audit log', () => {
  it('has its lines whatever the level of the others, in the log and in its file, with no credential', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'headroom-log-'));
    const auditFile = join(dir, 'new', 'audit.log');
    const lines: string[] = [];
    const log = createLog({
      name: 'worker',
      level: 'error',
      auditFile,
      destination: { write: (line) => void lines.push(line) },
    });
    log.info({ audit: 'write', token: 'abc123' }, 'merged');
    log.info('quiet');
    log.warn({ text: '"audit":"write"' }, 'quiet as well');
    log.error('loud');
    const written = await readFile(auditFile, 'utf8');
    await rm(dir, { recursive: true });
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['merged', 'loud']);
    expect(written).toBe(lines[0]);
    expect(JSON.parse(written)).toMatchObject({ level: 'info', name: 'worker', audit: 'write', msg: 'merged' });
    expect(written).not.toContain('abc123');
  });

  it('that cannot be opened is an error', () => {
    const auditFile = '/proc/audit.log';
    expect(() => createLog({ name: 'worker', level: 'info', auditFile })).toThrow(
      /HEADROOM_AUDIT_LOG: the file cannot be opened: .*\/proc\/audit[.]log/,
    );
  });
});

describe('a log line', () => {
  it('is one JSON object with an ISO time, the level in words, the program and the message', () => {
    const { log, parsed } = recorded();
    log.child({ quota: 'team-a/compute' }).info({ used: '2' }, 'raised');
    expect(parsed()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
        level: 'info',
        name: 'worker',
        quota: 'team-a/compute',
        used: '2',
        msg: 'raised',
      },
    ]);
  });

  it('below the level is not written', () => {
    const { log, lines } = recorded({ level: 'info' });
    log.debug('quiet');
    expect(lines).toEqual([]);
  });

  it('has no credential under any of its usual names, however deep', () => {
    const { log, lines, parsed } = recorded();
    log.info({
      taskToken: 'CiQx',
      request: { headers: { authorization: 'token abc123', accept: 'json' } },
      nested: [{ deep: { api_key: 'abc123', apiKey: 'abc123', password: 'abc123', clientKeyData: 'abc123' } }],
      tokenFile: '/var/run/token',
      tokens: 3,
    });
    expect(lines.join()).not.toContain('abc123');
    expect(lines.join()).not.toContain('CiQx');
    expect(parsed()[0]).toMatchObject({
      tokenFile: '/var/run/token',
      tokens: 3,
      request: { headers: { accept: 'json' } },
    });
  });

  it('has no credential in an error, its fields or its stack', () => {
    const { log, lines, parsed } = recorded();
    const error = Object.assign(new Error('refused Bearer abcdefgh12345678 for ghp_0123456789abcdefghij'), {
      request: { headers: { Authorization: 'token very-secret' } },
      status: 401,
    });
    log.error(error, 'cannot read https://bot:hunter22@example.com/x');
    expect(parsed()[0]).toMatchObject({ err: { type: 'Error', status: 401 } });
    for (const secret of ['abcdefgh12345678', 'ghp_0123456789abcdefghij', 'very-secret', 'hunter22']) {
      expect(lines.join()).not.toContain(secret);
    }
  });

  it('has no credential of a known form: tokens of Apps, JSON Web Tokens and private keys, whole or cut off', () => {
    const { log, lines } = recorded();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLW9mLWl0';
    log.info({ answer: `sent ${jwt}`, next: 'kept' }, `ghs_0123456789abcdefghij.eyJ-part and ${pem} and so on`);
    log.info({ cut: pem.slice(0, 300), next: 'kept' }, pem.replaceAll('\n', '\\n'));
    const written = lines.join('');
    for (const line of pem.split('\n').slice(1, -2)) expect(written).not.toContain(line.slice(0, 40));
    for (const part of [...jwt.split('.'), 'ghs_', 'eyJ-part']) expect(written).not.toContain(part);
    expect(written.match(/kept/g)).toHaveLength(2);
  });

  it('has no secret whose quotes are escaped in it, nor any of several', () => {
    const secrets = [new Secret(() => ['first "quoted" secret', 'second secret'])];
    const { log, lines } = recorded({ secrets });
    log.info({ a: 'first "quoted" secret', b: 'second secret' });
    expect(lines.join('')).not.toMatch(/quoted|second/);
  });

  it('has no value that is known to be a secret, also after its rotation, and not in the bindings of a child', () => {
    let token = 'plain-token-1';
    const { log, lines } = recorded({ secrets: [new Secret(() => token)] });
    log.child({ url: 'https://x/?t=plain-token-1' }).info('with plain-token-1');
    token = 'plain-token-2';
    log.info({ list: ['plain-token-2'] });
    expect(lines.join()).not.toContain('plain-token');
  });

  it('is written for anything that is logged: a cycle, a bigint, bytes, a map', () => {
    const { log, parsed } = recorded();
    const cycle: Record<string, unknown> = { amount: 12n, bytes: Buffer.from('abc'), map: new Map([['a', 1]]) };
    cycle['self'] = cycle;
    log.info({ cycle, at: new Date(0), token: undefined });
    expect(parsed()[0]).toMatchObject({
      cycle: { amount: '12', bytes: '[3 bytes]', map: [['a', 1]], self: '[circular]' },
      at: '1970-01-01T00:00:00.000Z',
    });
  });
});

describe("the lines of Temporal's SDK", () => {
  it('keep their level and fields, with the error as err and without the task token', () => {
    const { log, parsed } = recorded();
    const logger = temporalLogger(log);
    logger.warn('Activity failed', { taskToken: 'CiQx', activityType: 'observe', error: new Error('no route') });
    logger.log('DEBUG', 'poll');
    expect(parsed()).toMatchObject([
      {
        level: 'warn',
        msg: 'Activity failed',
        activityType: 'observe',
        taskToken: '[redacted]',
        err: { message: 'no route' },
      },
      { level: 'debug', msg: 'poll' },
    ]);
  });
});
