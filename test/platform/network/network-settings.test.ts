import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../platform/log/log.ts';
import { issueAuthority } from '../../../starter/admission/issue.ts';
import { temporaryConfig } from '../config/temporary-config.ts';

const base = { CLUSTER_NAME: 'kind', TEMPORAL_ADDRESS: 'temporal.example:7233' };
const PROXY = 'http://us%40er:pass%3Aword-1@proxy.example:3128';

const { file, folder, load, refusal } = temporaryConfig();

describe('the proxies of the environment', () => {
  it('are one for https and one for http, in small letters first, and none for what NO_PROXY lists', () => {
    const { proxies } = load({
      ...base,
      HTTPS_PROXY: 'http://unread.example:1',
      https_proxy: 'proxy.example:3128',
      HTTP_PROXY: 'https://plain.example',
      NO_PROXY: '10.0.0.0/8,.svc',
    }).network;
    expect(proxies.to('https://api.github.com')?.shown).toBe('http://proxy.example:3128');
    expect(proxies.to('http://api.github.com')?.shown).toBe('https://plain.example');
    expect(proxies.to('https://10.1.2.3')).toBeNull();
    expect(proxies.to('http://forge.git.svc:3000')).toBeNull();
    expect(load({ ...base, NO_PROXY: 'x.example' }).network.proxies.to('https://api.github.com')).toBeNull();
  });

  it('reach Temporal: its options have the proxy with its user and password, and messages have neither', () => {
    const { temporal } = load({ ...base, HTTPS_PROXY: PROXY, HTTP_PROXY: 'http://other.example' });
    expect(temporal.connection.reveal().proxy).toEqual({
      type: 'http-connect',
      targetHost: 'proxy.example:3128',
      basicAuth: { username: 'us@er', password: 'pass:word-1' },
    });
    expect(temporal.place).toBe('temporal.example:7233 through the proxy http://proxy.example:3128');
  });

  it.each(['temporal.example', 'temporal.example:7233', '*'])('do not, where NO_PROXY is %s', (noProxy) => {
    const { temporal } = load({ ...base, HTTPS_PROXY: PROXY, NO_PROXY: noProxy });
    expect(temporal.connection.reveal()).not.toHaveProperty('proxy');
    expect(temporal.place).toBe('temporal.example:7233');
  });

  it('never show their password: not in the configuration, nor in any form in the log', () => {
    const config = load({ ...base, HTTPS_PROXY: PROXY });
    expect(inspect(config, { depth: 10 }) + JSON.stringify(config)).not.toMatch(/pass(?:%3A|:)word/);
    let written = '';
    const destination = { write: (line: string) => void (written += line) };
    const log = createLog({ name: 'test', level: 'info', secrets: config.secrets, destination });
    const header = Buffer.from('us@er:pass:word-1').toString('base64');
    log.info({ options: { uri: PROXY, user: 'pass:word-1', header } }, `to ${PROXY} with pass:word-1 and ${header}`);
    expect(written).toContain('[redacted]');
    expect(written).not.toMatch(/pass(?:%3A|:)word/);
    expect(written).not.toContain(header);
  });

  it.each([
    ['socks5://me:SECRET1@proxy.example:1080', '"…@proxy.example:1080" is not valid', 'socks5 is no scheme of a proxy'],
    ['http://me:SEC@RET@pro xy', '"…@pro xy" is not valid', 'such as http://proxy.example:3128'],
    ['http://proxy.example:3128/path', '"http://proxy.example:3128/path" is not valid', 'it has a path'],
    ['http://me:50%@proxy.example', '"…@proxy.example" is not valid', 'has to be written as %25'],
  ])('%s is refused with what would be right', (proxy, ...expected) => {
    const message = refusal({ ...base, HTTPS_PROXY: proxy });
    for (const part of ['HTTPS_PROXY: ', ...expected]) expect(message).toContain(part);
    expect(message).not.toMatch(/SEC|50%@/);
  });

  it('by https do for GitHub, and not for Temporal, whose clients have no TLS to a proxy', () => {
    const env = { ...base, HTTPS_PROXY: 'https://me:SECRET1@proxy.example' };
    expect(refusal(env)).toContain(
      "HTTPS_PROXY: https://proxy.example does not do for Temporal: its clients connect to a proxy by http only. Name one such as http://proxy.example:3128, or add Temporal's host to NO_PROXY",
    );
    const { proxies } = load({ ...env, NO_PROXY: 'temporal.example' }).network;
    expect(proxies.to('https://api.github.com')?.shown).toBe('https://proxy.example');
  });

  it('come with a notice for what NO_PROXY cannot mean', () => {
    const { notices } = load({ ...base, HTTPS_PROXY: PROXY, no_proxy: '10.0.0.0/40' });
    expect(notices.join()).toContain('no_proxy has "10.0.0.0/40", which matches no host');
    expect(load({ ...base, no_proxy: '10.0.0.0/40' }).notices.join()).not.toContain('no_proxy');
  });
});

describe('the file of authorities', () => {
  it("adds to the system's, for Temporal as well, unless Temporal's own is named", async () => {
    const { certificate } = await issueAuthority(Date.now());
    const env = { ...base, HEADROOM_CA_FILE: file('ca.pem', `# ours\n${certificate}`) };
    const { network, temporal } = load(env);
    expect(network.authorities).toContain(certificate.trim());
    expect(network.authorities?.length).toBeGreaterThan(100);
    // Without TLS there is nothing to trust.
    expect(temporal.connection.reveal().tls ?? false).toBe(false);
    const trusted = (more: Record<string, string>): string => {
      const { tls } = load({ ...env, ...more }).temporal.connection.reveal();
      if (typeof tls !== 'object' || tls === null) throw new Error('it has no options for TLS');
      return Buffer.from(tls.serverRootCACertificate ?? '').toString();
    };
    expect(trusted({ TEMPORAL_TLS: 'true' })).toContain(certificate.trim());
    expect(trusted({ TEMPORAL_API_KEY: 'key_of_temporal' })).toContain(certificate.trim());
    expect(trusted({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('own.pem', 'OWN') })).toBe('OWN');
  });

  it.each([
    ['nothing of it', '"PATH" has no certificate'],
    [
      '-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n',
      'certificate 1 of "PATH" cannot be read',
    ],
  ])('with %j is refused', (content, expected) => {
    const path = file('ca.pem', content);
    expect(refusal({ ...base, HEADROOM_CA_FILE: path })).toContain(
      `HEADROOM_CA_FILE: ${expected.replace('PATH', path)}: expected a PEM file with the certificates of authorities`,
    );
  });

  it('that is not there is refused by its path', () => {
    expect(refusal(base, '--ca-file', `${folder()}/none.pem`)).toContain(
      `--ca-file: cannot read "${folder()}/none.pem": ENOENT`,
    );
  });
});

describe('the file of the API key for Temporal', () => {
  it('switches TLS on and is read again, and its last key stays while it has none', () => {
    const path = file('api-key', 'first-key\n');
    const { temporal } = load({ ...base, TEMPORAL_API_KEY_FILE: path });
    expect(temporal.connection.reveal()).toMatchObject({ apiKey: 'first-key', tls: true });
    file('api-key', 'second-key');
    expect(temporal.connection.reveal().apiKey).toBe('second-key');
    expect(temporal.secrets.map((secret) => secret.reveal())).toEqual(['second-key']);
    file('api-key', '');
    expect(temporal.connection.reveal().apiKey).toBe('second-key');
  });

  it("is not the only one that is read again: Temporal's own configuration file is, too", () => {
    const profile = (key: string): string => file('temporal.toml', `[profile.default]\napi_key = "${key}"\n`);
    const { temporal } = load({ ...base, TEMPORAL_CONFIG_FILE: profile('first-key') });
    expect(temporal.connection.reveal().apiKey).toBe('first-key');
    profile('second-key');
    expect(temporal.connection.reveal().apiKey).toBe('second-key');
  });

  it.each([
    ['', 'the file is empty'],
    ['one\ntwo', 'the file has more than one line'],
  ])('with %j is refused', (content, reason) => {
    const message = refusal({ ...base, TEMPORAL_API_KEY_FILE: file('api-key', content) });
    expect(message).toContain(`TEMPORAL_API_KEY_FILE: cannot use "${folder()}/api-key" as an API key: ${reason}`);
  });

  it('and a key of the environment are one too many', () => {
    const env = { ...base, TEMPORAL_API_KEY: 'key-of-env', TEMPORAL_API_KEY_FILE: file('api-key', 'key') };
    expect(refusal(env)).toContain('TEMPORAL_API_KEY_FILE: is set and TEMPORAL_API_KEY is set as well: keep one');
  });
});
