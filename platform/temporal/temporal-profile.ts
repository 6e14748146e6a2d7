import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { Secret, secretFromFile } from '../../domain/kernel/settings/secret.ts';
import type { ConfigProblem, SettingSources, WrittenValue } from '../../domain/kernel/settings/setting.ts';
import { platformSettings, type PlatformValues } from '../config/settings.ts';
import type { Network } from '../network/network.ts';
import { type Proxy, proxyCredentials } from '../network/proxies.ts';
import { release } from '../process/release.ts';
import type { TemporalTarget } from './temporal-target.ts';

/** Temporal's own variable for its configuration file. */
const CONFIG_FILE = 'TEMPORAL_CONFIG_FILE';

interface TemporalSources extends Pick<SettingSources, 'written' | 'readFile' | 'problems'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly network: Network;
}

/**
 * Temporal's address and credentials from Temporal's own environment configuration (its variables and the profiles of
 * its TOML file). Headroom's flags take precedence over it; Headroom's file comes between the variables and the
 * profile. Certificates are read here.
 *
 * @param settings the temporal group, as far as its values are valid.
 * @returns undefined where it added problems.
 */
export function resolveTemporal(
  settings: PlatformValues['temporal'],
  { written, env, readFile, problems, network }: TemporalSources,
): TemporalTarget | undefined {
  const before = problems.length;
  checkTls(written, env, problems);
  checkReadable(settings, { written, env }, readFile, problems);
  const apiKey = readApiKey(settings, written, readFile, problems);
  if (problems.length > before) return undefined;

  const variables = temporalEnvironment(settings, written, env);
  const read = () =>
    readProfile(settings, apiKey === undefined ? variables : { ...variables, TEMPORAL_API_KEY: apiKey.reveal() });
  try {
    const { profile, options } = read();
    const address = profile.address ?? settings.address;
    // As with gRPC's other clients: a connection to a server of gRPC is one of https, encrypted or not.
    const proxy = network.proxies.to(`https://${address}`);
    if (proxy !== null && !proxy.shown.startsWith('http:')) {
      problems.push({ where: proxy.where, message: `${proxy.shown} does not do for Temporal: ${ONLY_HTTP}` });
      return undefined;
    }
    const connected = (found: NativeConnectionOptions): NativeConnectionOptions => ({
      ...trusting(found, network.authorities),
      ...(proxy === null ? {} : { proxy: connectProxy(proxy) }),
    });
    return {
      address,
      namespace: profile.namespace ?? settings.namespace,
      place: `${address}${proxy === null ? '' : ` through the proxy ${proxy.shown}`}`,
      connection: new Secret(lastValid(connected(options), () => connected(read().options))),
      // The name and the build id are those that Temporal's Worker Controller gives to pods.
      deployment:
        settings.deploymentName === undefined
          ? null
          : { name: settings.deploymentName, buildId: env['TEMPORAL_WORKER_BUILD_ID'] || release },
      secrets: apiKey === undefined ? [] : [apiKey],
    };
  } catch (error) {
    problems.push({ where: "Temporal's configuration", message: firstLine(error) });
    return undefined;
  }
}

const ONLY_HTTP =
  "its clients connect to a proxy by http only. Name one such as http://proxy.example:3128, or add Temporal's host to NO_PROXY";

function connectProxy(proxy: Proxy): NonNullable<NativeConnectionOptions['proxy']> {
  const { hostname, port } = new URL(proxy.url.reveal());
  const basicAuth = proxyCredentials(proxy);
  return {
    type: 'http-connect',
    targetHost: `${hostname}:${port === '' ? '80' : port}`,
    ...(basicAuth === undefined ? {} : { basicAuth }),
  };
}

/** The worker's core does not know what this process trusts, and takes the system's authorities where it is given none. */
function trusting(options: NativeConnectionOptions, authorities: Network['authorities']): NativeConnectionOptions {
  const { apiKey, tls = apiKey !== undefined } = options;
  if (authorities === null || tls === false || tls === null) return options;
  const given = tls === true ? {} : tls;
  if (given.serverRootCACertificate !== undefined) return options;
  return { ...options, tls: { ...given, serverRootCACertificate: Buffer.from(authorities.join('\n')) } };
}

/** The API key of a file or of the environment. Headers have no room for anything but one line. */
function readApiKey(
  settings: PlatformValues['temporal'],
  written: ReadonlyMap<string, WrittenValue>,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): Secret | undefined {
  const { apiKey, apiKeyFile: path } = settings;
  if (path === undefined) return apiKey === undefined ? undefined : new Secret(() => apiKey);
  try {
    return secretFromFile(path, readFile, (value) => {
      if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('the file has more than one line, or hidden characters');
    });
  } catch (error) {
    const where = written.get('temporal.apiKeyFile')?.where ?? 'temporal.apiKeyFile';
    problems.push({ where, message: `cannot use "${path}" as an API key: ${firstLine(error)}` });
    return undefined;
  }
}

/** @throws Error that says what is wrong, which may quote a credential. */
function readProfile(
  settings: PlatformValues['temporal'],
  overrideEnvVars: Record<string, string>,
): { readonly profile: ReturnType<typeof loadClientConfigProfile>; readonly options: NativeConnectionOptions } {
  // Without `configFileStrict`, keys that Temporal's file format does not know are silently ignored.
  const profile = loadClientConfigProfile({ overrideEnvVars, configFileStrict: true });
  if ((profile.tls?.clientCert === undefined) !== (profile.tls?.clientKey === undefined)) {
    // The library would connect without either.
    throw new Error('a client certificate needs its private key, and the key its certificate: one of them is missing');
  }
  const { connectionOptions } = toClientOptions({ ...profile, address: profile.address ?? settings.address });
  return { profile, options: connectionOptions };
}

function lastValid<T>(first: T, read: () => T): () => T {
  let last = first;
  return () => {
    try {
      last = read();
    } catch {
      // An old certificate gets a clear refusal, half of a new one does not.
    }
    return last;
  };
}

/** The variables for the library: Headroom's settings where given, and no empty ones. */
function temporalEnvironment(
  settings: PlatformValues['temporal'],
  written: ReadonlyMap<string, WrittenValue>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, text] of Object.entries(env)) {
    // An empty GRPC_META variable makes the library remove a header of the profile.
    if (text !== undefined && (text !== '' || name.startsWith('TEMPORAL_GRPC_META_'))) variables[name] = text;
  }
  for (const [key, setting] of Object.entries(platformSettings.temporal)) {
    const path = `temporal.${key}`;
    const value = written.get(path);
    if (value === undefined) continue;
    // The library takes every text but "true" and "1" for false.
    variables[setting.env] = path === 'temporal.tls' ? String(settings.tls) : value.text;
  }
  return variables;
}

/** Combinations that the library ignores, or reports under names that the user does not know. */
function checkTls(
  written: ReadonlyMap<string, WrittenValue>,
  env: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
): void {
  const where = (path: string): string => written.get(path)?.where ?? path;
  for (const [path, variable] of [
    ['temporal.apiKeyFile', 'TEMPORAL_API_KEY'],
    ['temporal.tlsClientCertPath', 'TEMPORAL_TLS_CLIENT_CERT_DATA'],
    ['temporal.tlsClientKeyPath', 'TEMPORAL_TLS_CLIENT_KEY_DATA'],
    ['temporal.tlsServerCaCertPath', 'TEMPORAL_TLS_SERVER_CA_CERT_DATA'],
  ] as const) {
    if (written.has(path) && Boolean(env[variable])) {
      problems.push({ where: where(path), message: `is set and ${variable} is set as well: keep one of them` });
    }
  }
  const off = env['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION']?.toLowerCase();
  if (off === 'true' || off === '1') {
    problems.push({
      where: 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION',
      message:
        "is not supported, the server's certificate is always verified: set TEMPORAL_TLS_SERVER_CA_CERT_PATH or TEMPORAL_TLS_SERVER_NAME",
    });
  }
}

/** Checks the files, because the library treats a missing configuration file as an empty one. */
function checkReadable(
  settings: PlatformValues['temporal'],
  {
    written,
    env,
  }: {
    readonly written: ReadonlyMap<string, WrittenValue>;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): void {
  const keys = ['tlsClientCertPath', 'tlsClientKeyPath', 'tlsServerCaCertPath'] as const;
  const files = [
    [CONFIG_FILE, env[CONFIG_FILE]],
    ...keys.map((key) => [written.get(`temporal.${key}`)?.where ?? `temporal.${key}`, settings[key]] as const),
  ] as const;
  for (const [where, path] of files) {
    if (path === undefined || path === '') continue;
    try {
      readFile(path);
    } catch (error) {
      problems.push({ where, message: `cannot read "${path}": ${firstLine(error)}` });
    }
  }
}

/** A TOML error quotes a part of the file, which may contain the API key. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
