import { describe, expect, it } from 'vitest';
import { admit } from '../../../domain/quota-usage/admission.ts';
import type { Claim } from '../../../domain/quota-usage/volume-claim-charge.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorFor } from '../../../domain/quota-usage/evaluators.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';

const context: UsageContext = { now: 0, deviceClasses: new Map(), podNamed: () => undefined };
const core = (resource: string) => evaluatorFor({ group: '', resource });
const pods = core('pods');
const claims = core('persistentvolumeclaims');

const pod = (requests: object, limits: object = {}, spec: object = {}): Pod => ({
  spec: { containers: [{ name: 'app', resources: { requests: { ...requests }, limits: { ...limits } } }], ...spec },
});
const claim = (storage: string): Claim => ({ spec: { resources: { requests: { storage } } } });
const quota = {
  name: 'quota',
  status: {
    hard: { cpu: '3', memory: '100Gi', pods: '5' },
    used: { cpu: '1', memory: '50Gi', pods: '3' },
  },
};

describe('a quota', () => {
  it('admits what fits, and counts it', () => {
    expect(admit(quota, pod({ cpu: '2', memory: '2Gi' }), pods, context)).toEqual({
      allowed: true,
      used: { cpu: '3', memory: '52Gi', pods: '4' },
    });
  });

  it('refuses what does not, and says so in the words of admission', () => {
    expect(admit(quota, pod({ cpu: '3', memory: '2Gi' }), pods, context)).toEqual({
      allowed: false,
      message: 'exceeded quota: quota, requested: cpu=3, used: cpu=1, limited: cpu=3',
    });
    const full = { ...quota, status: { ...quota.status, used: { cpu: '1', memory: '50Gi', pods: '5' } } };
    expect(admit(full, pod({ cpu: '2500m', memory: '1.5Gi' }), pods, context)).toEqual({
      allowed: false,
      message: 'exceeded quota: quota, requested: cpu=2500m,pods=1, used: cpu=1,pods=5, limited: cpu=3,pods=5',
    });
  });

  it('refuses a pod that leaves open what it limits', () => {
    expect(admit(quota, pod({ cpu: '100m' }), pods, context)).toEqual({
      allowed: false,
      message: 'failed quota: quota: must specify memory for: app',
    });
  });

  it('refuses while it does not know what is used of what it limits', () => {
    const unknown = { name: 'new', status: { hard: { pods: '5', cpu: '1', services: '1' }, used: { cpu: '0' } } };
    expect(admit(unknown, pod({ cpu: '100m' }), pods, context)).toEqual({
      allowed: false,
      message: 'status unknown for quota: new, resources: cpu,pods',
    });
  });

  it('refuses a request of less than nothing', () => {
    const ofStorage = {
      name: 'quota',
      status: { hard: { 'requests.storage': '9Gi' }, used: { 'requests.storage': '0' } },
    };
    expect(admit(ofStorage, claim('-1Gi'), claims, context)).toEqual({
      allowed: false,
      message: 'quota usage is negative for resource(s): requests.storage',
    });
  });

  it('admits what it does not count: of another kind, out of its scopes, or only of what is full besides', () => {
    expect(admit(quota, claim('1Ti'), claims, context)).toMatchObject({ allowed: true });
    expect(admit({ name: 'not synced yet' }, pod({ cpu: '9' }), pods, context)).toEqual({ allowed: true, used: {} });
    const ending = { ...quota, spec: { scopes: ['Terminating'] } };
    expect(admit(ending, pod({ cpu: '9' }), pods, context)).toMatchObject({ allowed: true });
    expect(
      admit(ending, pod({ cpu: '9', memory: '1' }, {}, { activeDeadlineSeconds: 1 }), pods, context),
    ).toMatchObject({
      allowed: false,
    });
    const crowded = { name: 'q', status: { hard: { services: '3', pods: '4' }, used: { services: '4', pods: '1' } } };
    expect(admit(crowded, pod({}), pods, context)).toMatchObject({ allowed: true, used: { services: '4', pods: '2' } });
  });

  it('charges an update with the difference, and never gives back', () => {
    const full = {
      name: 'quota',
      status: {
        hard: { persistentvolumeclaims: '1', 'requests.storage': '100Gi' },
        used: { persistentvolumeclaims: '1', 'requests.storage': '90Gi' },
      },
    };
    expect(admit(full, claim('20Gi'), claims, context, claim('10Gi'))).toMatchObject({
      allowed: true,
      used: { 'requests.storage': '100Gi' },
    });
    expect(admit(full, claim('21Gi'), claims, context, claim('10Gi'))).toEqual({
      allowed: false,
      message:
        'exceeded quota: quota, requested: requests.storage=11Gi, used: requests.storage=90Gi, limited: requests.storage=100Gi',
    });
    const over = {
      ...full,
      status: { ...full.status, used: { persistentvolumeclaims: '2', 'requests.storage': '200Gi' } },
    };
    expect(admit(over, claim('5Gi'), claims, context, claim('10Gi'))).toEqual({
      allowed: true,
      used: over.status.used,
    });
  });

  it('charges an update whole that moves the object into its scopes', () => {
    const ending = { ...quota, spec: { scopes: ['Terminating'] } };
    const moved = admit(
      ending,
      pod({ cpu: '1', memory: '1Gi' }, {}, { activeDeadlineSeconds: 9 }),
      pods,
      context,
      pod({}),
    );
    expect(moved).toMatchObject({ allowed: true, used: { cpu: '2', pods: '4' } });
  });
});
