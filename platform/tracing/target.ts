import { Secret } from '../../domain/kernel/settings/secret.ts';

/** Where spans are sent, as the standard variables of OpenTelemetry say it. */
export interface TracingTarget {
  /** Of the receiver of spans: `http://collector.example:4318/v1/traces`. */
  readonly url: string;
  /** Headers of each request, most often a credential. */
  readonly headers: Secret<Readonly<Record<string, string>>>;
  /** The values of the headers, and what they have in them besides a scheme, as a log line could have them. */
  readonly secret: Secret<readonly string[]>;
  /** Milliseconds for one batch, with its repetitions. */
  readonly timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 10_000;

/**
 * Null where nothing is traced. These variables may be everybody's in a cluster, so what is wrong with them is a notice, and ends
 * no process.
 */
export function readTracing(env: Environment, notices: string[]): TracingTarget | null {
  if (
    variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true' ||
    variable(env, 'OTEL_TRACES_EXPORTER') === 'none'
  ) {
    return null;
  }
  const base = variable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const own = variable(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const written = own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);
  if (written === undefined) return null;
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const url = URL.parse(written);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    notices.push(
      `${name} is no URL such as http://collector.example:4318, without a user or a password: nothing is traced.`,
    );
    return null;
  }
  if (of(env, 'PROTOCOL') === 'grpc') {
    notices.push(`Spans are sent to ${url.host} by HTTP, and OTEL_EXPORTER_OTLP_PROTOCOL asks for grpc.`);
  }
  const timeoutMs = Number(of(env, 'TIMEOUT') ?? TIMEOUT_MS);
  return {
    url: url.href,
    headers: new Secret(() => headersOf(env)),
    secret: new Secret(() => Object.values(headersOf(env)).flatMap((value) => [value, ...value.split(' ')])),
    timeoutMs: timeoutMs > 0 ? timeoutMs : TIMEOUT_MS,
  };
}

/** A variable of the exporter: that of traces goes before that of all signals. */
function of(env: Environment, name: string): string | undefined {
  return variable(env, `OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? variable(env, `OTEL_EXPORTER_OTLP_${name}`);
}

function variable(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

/** `name=value,name=value`, each with percent encoding. */
function headersOf(env: Environment): Readonly<Record<string, string>> {
  const pairs = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'].flatMap((name) =>
    (variable(env, name) ?? '').split(',').flatMap((pair): [string, string][] => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim().toLowerCase(), decoded(pair.slice(at + 1).trim())]];
    }),
  );
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
