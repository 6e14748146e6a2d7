import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pair } from '../../../starter/admission/certificate.ts';
import { givenCertificate } from '../../../starter/admission/given.ts';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import {
  type AdmissionMetrics,
  createAdmissionMetrics,
  type RunningAdmission,
  runAdmission,
} from '../../../starter/admission/start.ts';
import { Readiness } from '../../../platform/health/health.ts';
import { createLog } from '../../../platform/log/log.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { shownSerial } from './tls.ts';

const DAY_MS = 86_400_000;
const authority = await issueAuthority(Date.now());
const newPair = async (now = Date.now()): Promise<Pair> => await issueServer('127.0.0.1', authority, now);

let folder: string;
let admission: RunningAdmission;
let metrics: Registry;
let measured: AdmissionMetrics;
let readiness: Readiness;
let ahead: number;
let lines: { readonly level: string; readonly msg: string }[];
let failures: unknown[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-admission-'));
  lines = [];
  failures = [];
  ahead = 0;
  metrics = new Registry();
  measured = createAdmissionMetrics(metrics);
  readiness = new Readiness();
});

afterEach(async () => {
  await admission.close();
  await rm(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

async function start(): Promise<void> {
  admission = await serve('headroom-things');
}

async function serve(name: string): Promise<RunningAdmission> {
  const now = () => Date.now() + ahead;
  return await runAdmission({
    webhooks: { name, kind: 'Thing', reviews: {}, address: { host: '127.0.0.1', port: 0 } },
    source: givenCertificate({ of: 'the admission webhooks', folder, everyMs: 10, now }),
    metrics: measured,
    readiness,
    log: createLog({
      name: 'starter',
      level: 'info',
      destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    }),
    signal: new AbortController().signal,
    fail: (error) => failures.push(error),
    now,
  });
}

/** Puts a pair in the folder as kubelet does: the files are links into a folder that is swapped as a whole. */
let swaps = 0;
async function mount({ certificate, key }: Pair): Promise<void> {
  swaps += 1;
  const data = `..${swaps}`;
  await mkdir(join(folder, data));
  await writeFile(join(folder, data, 'tls.crt'), certificate);
  await writeFile(join(folder, data, 'tls.key'), key);
  await symlink(data, join(folder, '..next'));
  await rename(join(folder, '..next'), join(folder, '..data'));
  for (const name of ['tls.crt', 'tls.key']) {
    await symlink(join('..data', name), join(folder, name)).catch(() => {});
  }
}

const shown = async (): Promise<string> => await shownSerial(admission.url, authority.certificate);
const isReady = (): boolean => readiness.report().ready;
const CONDITION = 'admission webhooks headroom-things';
const reason = (): unknown => readiness.report().conditions[CONDITION];
const logged = async (level: string, text: string | RegExp): Promise<void> => {
  await eventually(`the log says ${text}`, () =>
    lines.some(
      (line) => line.level === level && (typeof text === 'string' ? line.msg.includes(text) : text.test(line.msg)),
    ),
  );
};

describe('a certificate that is given', () => {
  it('is waited for, which log and readiness say with the file', async () => {
    await start();
    const missing = `${join(folder, 'tls.crt')} cannot be read: ENOENT: no such file or directory`;
    await logged('warn', `waiting for the certificate of the admission webhooks in ${folder}: ${missing}`);
    expect(reason()).toEqual({ ready: false, reason: expect.stringContaining(missing) });
    await expect(shown()).rejects.toThrow(/handshake failure/);
    await mount(await newPair());
    await eventually('the webhooks are ready', isReady);
    await shown();
  });

  it('is taken over when it is swapped, with its expiry', async () => {
    await mount(await newPair());
    await start();
    await eventually('the webhooks are ready', isReady);
    const before = await shown();
    const later = Date.now() + 1_800_000;
    await mount(await newPair(later));
    await eventually('the new one is shown', async () => (await shown()) !== before);
    const until = Math.floor(later / 1000) + 90 * 86_400;
    expect(await metrics.metrics()).toContain(
      `headroom_admission_certificate_expiry_timestamp_seconds{webhooks="headroom-things"} ${until}`,
    );
  });

  it('goes on while the new one is broken, which is said once for each reason', async () => {
    const good = await newPair();
    await mount(good);
    await start();
    await eventually('the webhooks are ready', isReady);
    const before = await shown();
    const other = await newPair();
    await mount({ certificate: other.certificate, key: good.key });
    await logged('warn', `the key in ${join(folder, 'tls.key')} is not the key of the certificate`);
    await mount({ certificate: 'nothing', key: good.key });
    await logged('warn', `${join(folder, 'tls.crt')} holds no certificate in PEM`);
    await mount({
      certificate: `${other.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      key: other.key,
    });
    await logged('warn', `${join(folder, 'tls.crt')} with ${join(folder, 'tls.key')} cannot be used: `);
    await mount({ certificate: other.certificate, key: 'nothing' });
    await logged('warn', `${join(folder, 'tls.key')} holds no private key in PEM`);
    await mount(await newPair(Date.now() - 91 * DAY_MS));
    await logged('warn', `the certificate in ${join(folder, 'tls.crt')} is over since `);
    expect(await shown()).toBe(before);
    expect(isReady()).toBe(true);
    expect(lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toHaveLength(5);

    await mount(other);
    await eventually('the new one is shown', async () => (await shown()) !== before);
    await logged('info', 'can be read again');
  });

  it('makes the process unready once it is over', async () => {
    await mount(await newPair());
    await start();
    await eventually('the webhooks are ready', isReady);
    ahead = 91 * DAY_MS;
    expect(reason()).toEqual({ ready: false, reason: expect.stringMatching(/^the certificate is over since 20/) });
    await mount(await newPair(Date.now() + ahead));
    await eventually('the webhooks are ready', isReady);
  });

  it('is served to the webhooks of two controllers in one process, each with its own condition and metrics', async () => {
    await mount(await newPair());
    await start();
    const other = await serve('headroom-others');
    try {
      await eventually('both are ready', isReady);
      expect(Object.keys(readiness.report().conditions)).toEqual([CONDITION, 'admission webhooks headroom-others']);
      expect(await shownSerial(other.url, authority.certificate)).toBe(await shown());
      const [things, others] = (await measured.expiry.get()).values;
      expect(things).toMatchObject({ labels: { webhooks: 'headroom-things' }, value: expect.any(Number) });
      expect(others).toMatchObject({ labels: { webhooks: 'headroom-others' }, value: things?.value });
    } finally {
      await other.close();
    }
  });
});
