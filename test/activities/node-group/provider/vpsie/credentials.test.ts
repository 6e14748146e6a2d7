import { describe, expect, it } from 'vitest';
import { Credentials, type PostForm } from '../../../../../activities/node-group/provider/vpsie/credentials.ts';

const BASE = 'https://api.vpsie.com/v2';

function credentials(secret: Readonly<Record<string, string>>, post: PostForm = never): Credentials {
  return new Credentials({ baseUrl: BASE, readSecret: () => Promise.resolve(secret) }, post);
}

function never(): Promise<never> {
  return Promise.reject(new Error('no token is to be asked for'));
}

const asked: string[] = [];
function granting(body: (nth: number) => object): PostForm {
  asked.length = 0;
  return (url, form) => {
    asked.push(`${url} ${form.toString()}`);
    return Promise.resolve({ status: 200, text: JSON.stringify(body(asked.length)) });
  };
}

const client = { clientId: 'id', clientSecret: 'long-secret' };
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("VPSie's address", () => {
  it.each([
    ['', BASE],
    ['https://example.com/apps/v2/', 'https://example.com/apps/v2'],
    ['http://127.0.0.1:8080/v2', 'http://127.0.0.1:8080/v2'],
    ['http://localhost/v2', 'http://localhost/v2'],
  ])('%j in the Secret is %s', async (url, baseUrl) => {
    expect((await credentials({ token: 'a-token', url }).access()).baseUrl).toBe(baseUrl);
  });

  it.each([
    'http://example.com/v2',
    'http://127.0.0.1.example.com/v2',
    'ftp://example.com',
    'https://user:word@example.com',
    'https://example.com/?to=elsewhere',
    'not an address',
  ])('%s is refused, and not quoted', async (url) => {
    const error: unknown = await credentials({ token: 'a-token', url })
      .access()
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ type: 'ProviderUnavailable' });
    expect(String(error)).not.toContain(url);
    expect(String(error)).not.toContain('a-token');
  });
});

describe('a token', () => {
  it.each([
    ['at the top', (token: string) => ({ accessToken: { token, expires: inAnHour() } })],
    ['in data', (token: string) => ({ data: { accessToken: { token, expires: inAnHour() } } })],
    ['in seconds', (token: string) => ({ accessToken: { token, expires: Math.floor(Date.now() / 1000) + 3600 } })],
    ['without an end', (token: string) => ({ accessToken: { token } })],
  ])('is asked for once with clientId and clientSecret (%s)', async (_where, body) => {
    const tokens = credentials(
      client,
      granting((nth) => body(`granted-${nth}`)),
    );
    const both = await Promise.all([tokens.access(), tokens.access()]);
    expect(both.map(({ headers }) => headers['authorization'])).toEqual(['Bearer granted-1', 'Bearer granted-1']);
    expect((await tokens.access()).headers).toEqual({ authorization: 'Bearer granted-1' });
    expect(asked).toEqual([`${BASE}/auth/from/api clientId=id&clientSecret=long-secret`]);
    tokens.refused();
    expect((await tokens.access()).headers).toEqual({ authorization: 'Bearer granted-2' });
  });

  it('that has ended is renewed', async () => {
    const ended = new Date(Date.now() - 1).toISOString();
    const tokens = credentials(
      client,
      granting((nth) => ({ accessToken: { token: `granted-${nth}`, expires: ended } })),
    );
    await tokens.access();
    expect((await tokens.access()).headers).toEqual({ authorization: 'Bearer granted-2' });
  });

  it('of a person is taken as it is, before clientId and clientSecret', async () => {
    expect((await credentials({ ...client, token: ' a-token\n' }).access()).headers).toEqual({
      authorization: 'Bearer a-token',
    });
  });

  it('that is not granted is said with the words of VPSie, without what is secret', async () => {
    const post: PostForm = () =>
      Promise.resolve({ status: 200, text: '{"error":true,"message":"no: long-secret at https://example.com/x"}' });
    await expect(credentials(client, post).access()).rejects.toThrow(
      'VPSie gives no token for clientId and clientSecret of its Secret (200: no: [redacted] at [address])',
    );
  });

  it('cannot be had of a Secret with neither', async () => {
    await expect(credentials({ clientId: 'id' }).access()).rejects.toThrow('neither token, nor clientId');
  });
});
