import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../starter/config.ts';
import { type AdmissionRequest, readReview } from '../../../starter/admission/review.ts';
import { memcachedAdmission } from '../../../starter/memcached/admission.ts';

const config = loadConfig({
  argv: [],
  env: { CLUSTER_NAME: 'test', HEADROOM_MEMCACHED: 'true', HEADROOM_MEMCACHED_WEBHOOK_ADDRESS: '127.0.0.1:0' },
});
const { '/mutate': reviewDefaults, '/validate': review } = memcachedAdmission(config)?.reviews ?? {};

function requestOf(spec: unknown, more: object = {}): AdmissionRequest {
  return readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'a-uid',
      operation: 'CREATE',
      name: 'cache',
      object: { metadata: { name: 'cache' }, ...(spec === undefined ? {} : { spec }) },
      oldObject: null,
      ...more,
    },
  });
}

const wrong = { memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } };

describe('the webhooks of Memcacheds', () => {
  it('fill in what is not said, and nothing where all is said', () => {
    const { patch = '' } = reviewDefaults?.(requestOf(undefined)) ?? {};
    const [operation] = JSON.parse(Buffer.from(patch, 'base64').toString()) as { value: object }[];
    expect(operation).toMatchObject({ op: 'add', path: '/spec', value: { replicas: 1, image: 'memcached:1.6' } });
    expect(reviewDefaults?.(requestOf(operation?.value)).patch).toBeUndefined();
  });

  it('refuse what contradicts itself, with every reason, in the words of the API server', () => {
    const memory =
      'spec.resources.limits.memory: Invalid value: "64Mi": memory limit must be at least 96Mi (maxMemoryMB=64Mi + 32Mi overhead)';
    expect(review?.(requestOf(wrong)).status).toMatchObject({
      message: `Memcached.memcached.c5c3.io "cache" is invalid: ${memory}`,
    });
    const twice = { ...wrong, security: { tls: { enabled: true } } };
    expect(review?.(requestOf(twice)).status?.message).toContain(
      `is invalid: [${memory}, spec.security.tls.certificateSecretRef.name: Required value: certificateSecretRef.name is required when TLS is enabled]`,
    );
  });

  it('warn of what cannot work and store it, and warn beside a refusal as well', () => {
    const highAvailability = { podDisruptionBudget: { enabled: true, maxUnavailable: 0 } };
    expect(review?.(requestOf({ replicas: 2, highAvailability }))).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('never lets a pod go')],
    });
    const autoscaling = { enabled: true, maxReplicas: 5 };
    const on = review?.(requestOf({ replicas: 1, autoscaling, resources: { requests: { cpu: '1' } } }));
    expect(on).toMatchObject({ allowed: false, warnings: [expect.stringContaining('set spec.replicas to null')] });
    const longest = { ...autoscaling, minReplicas: 64, maxReplicas: 64 };
    const { warnings = [] } =
      review?.(
        requestOf({
          autoscaling: longest,
          highAvailability: { podDisruptionBudget: { enabled: true, minAvailable: '100%' } },
        }),
      ) ?? {};
    expect(warnings.filter((warning) => warning.endsWith('…'))).toEqual([]);
  });

  it('let everything else of a stored object change, and let it be deleted', () => {
    const old = { metadata: { name: 'cache' }, spec: wrong };
    expect(review?.(requestOf(wrong, { operation: 'UPDATE', oldObject: old })).allowed).toBe(true);
    expect(review?.(requestOf(wrong, { operation: 'DELETE' })).allowed).toBe(true);
    const being = { metadata: { name: 'cache', deletionTimestamp: '2026-11-23T10:00:00Z' }, spec: wrong };
    expect(review?.(requestOf(wrong, { operation: 'UPDATE', object: being })).allowed).toBe(true);
  });
});
