import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Chain, reviewChain } from '../../../starter/admission/chain.ts';
import * as issuer from '../../../starter/admission/issue.ts';

const HOST = 'headroom-lights-out.namespace-resizer-system.svc';
const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00.250Z');

const review = async (kept: Chain | null, now: number, host = HOST) =>
  await reviewChain(kept, { host, now, issuer: async () => await Promise.resolve(issuer) });

/** The chain that is kept after a review, and why. */
async function renewed(kept: Chain | null, now: number, host = HOST): Promise<{ why: string; next: Chain }> {
  const outcome = await review(kept, now, host);
  if (outcome.kind !== 'renew') throw new Error('the chain was good as it is');
  return outcome;
}

const isGood = async (kept: Chain, now: number, host = HOST) => (await review(kept, now, host)).kind === 'good';

const authoritiesOf = ({ authorities }: Pick<Chain, 'authorities'>): X509Certificate[] =>
  (authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

describe('a chain that is made', () => {
  it.each([HOST, '10.0.0.7', 'fd00::7', `${'a'.repeat(63)}.${'b'.repeat(63)}.svc`])(
    'is good for %s, and for nothing else',
    async (host) => {
      const { why, next } = await renewed(null, START, host);
      expect(why).toBe('there is none yet');
      expect(await isGood(next, START, host)).toBe(true);
      expect(await isGood(next, START, 'elsewhere.svc')).toBe(false);
      expect(await isGood(next, START, '10.0.0.8')).toBe(false);
    },
  );

  it('is valid for an hour before, for clocks that are behind, the server for 90 days and the authority for five years', async () => {
    const { next } = await renewed(null, START);
    const [authority] = authoritiesOf(next);
    const server = new X509Certificate(next.server.certificate);
    expect(server.validFromDate.toISOString()).toBe('2026-03-01T11:00:00.000Z');
    expect(server.validToDate.toISOString()).toBe('2026-05-30T12:00:00.000Z');
    expect(authority?.validToDate.toISOString()).toBe('2031-02-28T12:00:00.000Z');
    expect(authority?.ca).toBe(true);
    expect(server.ca).toBe(false);
  });

  it('differs from every other one', async () => {
    const [first, other] = [await renewed(null, START), await renewed(null, START)];
    expect(first.next.authorityKey).not.toBe(other.next.authorityKey);
    expect(new X509Certificate(first.next.server.certificate).serialNumber).not.toBe(
      new X509Certificate(other.next.server.certificate).serialNumber,
    );
  });
});

describe('a chain that is kept', () => {
  it('has the certificate of its server renewed when a third of its life is left, by the same authority', async () => {
    const { next: first } = await renewed(null, START);
    expect(await isGood(first, START + 59 * DAY_MS)).toBe(true);
    const { why, next } = await renewed(first, START + 61 * DAY_MS);
    expect(why).toBe('it ends soon');
    expect(next.authorities).toBe(first.authorities);
    expect(next.authorityKey).toBe(first.authorityKey);
    expect(next.server.key).not.toBe(first.server.key);
    expect(await isGood(next, START + 100 * DAY_MS)).toBe(true);
  });

  it('gets a new authority long before the old one ends, which signs only once it is trusted', async () => {
    const authority = await issuer.issueAuthority(START);
    const later = START + 1_250 * DAY_MS;
    const old: Chain = {
      // Due as well, and so renewed by the look after this one.
      server: await issuer.issueServer(HOST, authority, later - 70 * DAY_MS),
      authorities: authority.certificate,
      authorityKey: authority.key,
    };
    const { why, next: first } = await renewed(old, later);
    expect(why).toBe('its authority ends soon');
    expect(first.server.certificate).toBe(old.server.certificate);
    expect(authoritiesOf(first)).toHaveLength(2);
    expect(first.authorities.endsWith(authority.certificate)).toBe(true);

    const { why: whyThen, next: second } = await renewed(first, later);
    expect(whyThen).toBe('it ends soon');
    expect(second.authorities).toBe(first.authorities);
    const [newer, older] = authoritiesOf(second);
    const server = new X509Certificate(second.server.certificate);
    expect(newer !== undefined && server.verify(newer.publicKey)).toBe(true);
    expect(older !== undefined && server.verify(older.publicKey)).toBe(false);
    expect(await isGood(second, later)).toBe(true);
  });

  it('no longer trusts an authority that is over', async () => {
    const over = await issuer.issueAuthority(START - 5 * 365 * DAY_MS);
    const { next } = await renewed(null, START);
    const outcome = await review({ ...next, authorities: `${next.authorities}${over.certificate}` }, START);
    expect(outcome).toMatchObject({ kind: 'good', chain: { authorities: next.authorities } });
  });

  it('is made anew after so long an absence that everything is over', async () => {
    const { next: old } = await renewed(null, START);
    const { why, next } = await renewed(old, START + 6 * 365 * DAY_MS);
    expect(why).toMatch(/^the certificate in tls\.crt is over since 2026-05-30T12:00:00Z$/);
    expect(next.authorities).not.toContain(old.authorities.trim());
    expect(await isGood(next, START + 6 * 365 * DAY_MS)).toBe(true);
  });

  it('keeps its authority where only the certificate of the server is of no use', async () => {
    const { next: good } = await renewed(null, START);
    const { next: foreign } = await renewed(null, START);
    const { next: future } = await renewed(null, START + 10 * DAY_MS);
    const early = {
      ...good,
      server: await issuer.issueServer(
        HOST,
        { certificate: good.authorities, key: good.authorityKey },
        START + 10 * DAY_MS,
      ),
    };
    const broken: readonly (readonly [Chain, RegExp])[] = [
      [{ ...good, server: { certificate: '', key: '' } }, /^tls\.crt holds no certificate in PEM/],
      [{ ...good, server: { ...good.server, key: 'no key' } }, /^tls\.key holds no private key in PEM/],
      [{ ...good, server: { ...good.server, key: foreign.server.key } }, /^the key in tls\.key is not the key/],
      [{ ...good, server: foreign.server }, /^its authority is not among those in ca\.crt$/],
      [early, /^it is not valid before /],
    ];
    for (const [chain, expected] of broken) {
      const { why, next } = await renewed(chain, START);
      expect(why).toMatch(expected);
      expect(next.authorities).toBe(good.authorities);
      expect(await isGood(next, START)).toBe(true);
    }
    const { next } = await renewed(good, START, 'elsewhere.svc');
    expect(next.authorities).toBe(good.authorities);
    // An authority that is not valid yet vouches for nothing.
    expect((await renewed(future, START)).next.authorities).not.toContain(future.authorities.trim());
  });

  it('keeps the certificate of its server where only the key of the authority is of no use', async () => {
    const { next: good } = await renewed(null, START);
    const { next: foreign } = await renewed(null, START);
    for (const authorityKey of ['', 'no key', foreign.authorityKey]) {
      const { why, next } = await renewed({ ...good, authorityKey }, START);
      expect(why).toBe('its authority cannot sign another one');
      expect(next.server.certificate).toBe(good.server.certificate);
      expect(authoritiesOf(next)).toHaveLength(2);
      expect(await isGood(next, START)).toBe(true);
    }
  });
});
