import { describe, expect, it } from 'vitest';
import { readTracing } from '../../../platform/tracing/target.ts';

function read(env: Readonly<Record<string, string>>) {
  const notices: string[] = [];
  const target = readTracing(env, notices);
  return { target, notices };
}

describe('where spans are sent', () => {
  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://example.com/otlp/' }, 'https://example.com/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/own' }, 'http://collector:4318/own'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:1', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/x' },
      'http://collector/x',
    ],
  ])('with %j is %s', (env, url) => {
    expect(read(env)).toMatchObject({ target: { url, timeoutMs: 10_000 }, notices: [] });
  });

  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' },
  ])('with %j is nowhere, without a word', (env) => {
    expect(read(env)).toEqual({ target: null, notices: [] });
  });

  it.each(['collector:4317', 'not a url', 'ftp://collector', 'http://me:secret@collector'])(
    'with the endpoint %s is nowhere, which is said without what is written there',
    (endpoint) => {
      const { target, notices } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
      expect(target).toBeNull();
      expect(notices).toEqual([
        expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT is no URL .* nothing is traced\.$/),
      ]);
      expect(notices[0]).not.toContain('secret');
    },
  );

  it('is said to be by HTTP where gRPC is asked for', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(read(env).notices).toEqual([expect.stringContaining('asks for grpc')]);
  });

  it('has the headers of both variables, which are secrets with and without their scheme', () => {
    const { target } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20of-all-signals, x-scope = team%3Da,nothing',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20of-traces',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });
    expect(target?.headers.reveal()).toEqual({ authorization: 'Bearer of-traces', 'x-scope': 'team=a' });
    expect(target?.secret.reveal()).toContain('of-traces');
    expect(target?.timeoutMs).toBe(500);
    expect(JSON.stringify(target)).not.toContain('of-traces');
  });
});
