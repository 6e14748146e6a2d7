import { describe, expect, it } from 'vitest';
import { type Memcached, memcachedSpec, type WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { podTemplate, versionedLabels } from '../../../domain/memcached/children/pod-template.ts';

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly securityContext?: object;
  readonly volumeMounts?: readonly object[];
}

function containersOf(written: WrittenSpec, isTakenOver = false): readonly Container[] {
  const memcached: Memcached = {
    name: 'cache',
    namespace: 'team-a',
    uid: 'uid',
    generation: 1,
    annotations: {},
    spec: memcachedSpec.parse(written),
  };
  const { containers } = podTemplate(memcached, { secretHash: '', isTakenOver })['spec'] as {
    readonly containers: readonly Container[];
  };
  return containers;
}

const tls = { enabled: true, certificateSecretRef: { name: 'pair' } };

describe('pods with TLS', () => {
  it('listen on both ports that the Service names, unless somebody says where', () => {
    const listening = (extraArgs: readonly string[]): readonly string[] =>
      (containersOf({ memcached: { extraArgs: [...extraArgs] }, security: { tls } })[0]?.args ?? []).filter(
        (word, at, words) => word.startsWith('-l') || word.startsWith('--listen') || words[at - 1] === '-l',
      );
    expect(listening([])).toEqual(['-l', '*:11211,*:11212']);
    expect(listening(['-l', '0.0.0.0'])).toEqual(['-l', '0.0.0.0']);
    expect(listening(['-l0.0.0.0'])).toEqual(['-l0.0.0.0']);
    expect(listening(['--listen=0.0.0.0'])).toEqual(['--listen=0.0.0.0']);
  });

  it('have an exporter that speaks it, and shows a certificate only where one is demanded', () => {
    const exporter = (security: WrittenSpec['security']): Container | undefined =>
      containersOf({ monitoring: { enabled: true }, security })[1];
    expect(exporter({})).not.toHaveProperty('args');
    expect(exporter({ tls })).toMatchObject({
      args: ['--memcached.tls.enable', '--memcached.tls.insecure-skip-verify'],
    });
    expect(exporter({ tls })).not.toHaveProperty('volumeMounts');
    expect(exporter({ tls: { ...tls, enableClientCert: true } })).toMatchObject({
      args: [
        '--memcached.tls.enable',
        '--memcached.tls.insecure-skip-verify',
        '--memcached.tls.cert-file=/etc/memcached/tls/tls.crt',
        '--memcached.tls.key-file=/etc/memcached/tls/tls.key',
      ],
      volumeMounts: [{ name: 'tls-certificates', mountPath: '/etc/memcached/tls', readOnly: true }],
    });
  });

  it('stay as the first operator made them, where they were taken over', () => {
    const security = { tls: { ...tls, enableClientCert: true } };
    const [server, exporter] = containersOf({ monitoring: { enabled: true }, security }, true);
    expect(server?.args).not.toContain('-l');
    expect(exporter).not.toHaveProperty('args');
    expect(exporter).not.toHaveProperty('volumeMounts');
  });
});

it('both containers have the security context as it is given', () => {
  const containerSecurityContext = { runAsNonRoot: true, runAsUser: 11_211, readOnlyRootFilesystem: true };
  const containers = containersOf({ monitoring: { enabled: true }, security: { containerSecurityContext } });
  expect(containers.map(({ securityContext }) => securityContext)).toEqual([
    containerSecurityContext,
    containerSecurityContext,
  ]);
});

describe('the version in the labels', () => {
  const long = 'x'.repeat(70);
  it.each<[string, string | undefined]>([
    ['memcached:1.6', '1.6'],
    ['registry.example/memcached:1.6.39-alpine3.22', '1.6.39-alpine3.22'],
    ['registry.example:5000/memcached:1.6', '1.6'],
    ['registry.example:5000/memcached', undefined],
    ['memcached', undefined],
    [`memcached:1.6.39@sha256:${'a'.repeat(64)}`, undefined],
    [`memcached:1.6.39-${long}`, `1.6.39-${'x'.repeat(56)}`],
    // What the 63rd character would be is no end of a label's value.
    [`memcached:${'x'.repeat(60)}...${long}`, 'x'.repeat(60)],
    ['memcached:1.6.39_', '1.6.39'],
    ['memcached:1.6.39-', '1.6.39'],
    ['memcached:1.6.39.', '1.6.39'],
    ['memcached:_1.6', '1.6'],
    ['memcached:___', undefined],
    ['memcached:1.6 ', undefined],
  ])('of %s is %s', (image, version) => {
    expect(versionedLabels('cache', { image })['app.kubernetes.io/version']).toBe(version);
  });
});
