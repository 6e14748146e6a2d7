import { describe, expect, it } from 'vitest';
import { type AdmissionRequest, readReview } from '../../../starter/admission/review.ts';
import { loadConfig } from '../../../starter/config.ts';
import { nodeGroupAdmission } from '../../../starter/node-group/admission.ts';

const config = (env: Readonly<Record<string, string>>) =>
  loadConfig({ argv: [], env: { CLUSTER_NAME: 'test', HEADROOM_NODE_GROUPS: 'true', ...env } });
const webhooks = nodeGroupAdmission(config({ HEADROOM_NODE_GROUPS_WEBHOOK_ADDRESS: '127.0.0.1:0' }));
const { '/validate': review } = webhooks?.reviews ?? {};

const KWOK = { provider: 'kwok', minNodes: 0, maxNodes: 3, offeringIDs: ['small'] };
const metadata = { name: 'web', namespace: 'kube-system' };

function requestOf(spec: object, more: object = {}): AdmissionRequest {
  return readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'a-uid',
      operation: 'CREATE',
      name: 'web',
      object: { metadata, spec },
      oldObject: null,
      ...more,
    },
  });
}

describe('the webhook of NodeGroups', () => {
  it('is served where the configuration has an address for it', () => {
    expect(nodeGroupAdmission(config({}))).toBeUndefined();
    expect(webhooks).toMatchObject({ name: 'headroom-node-group' });
  });

  it('lets a group be stored that can work', () => {
    expect(review?.(requestOf(KWOK))).toEqual({ uid: 'a-uid', allowed: true });
  });

  it.each([
    [
      { schedule: 'foo bar baz qux quux' },
      'spec.budgets[1].schedule: Invalid value: "foo bar baz qux quux": the hour "bar"',
    ],
    [{ schedule: '0 0 30 2 *' }, 'spec.budgets[1].schedule: Invalid value: "0 0 30 2 *": "0 0 30 2 *" never comes'],
    [{ schedule: '0 9 * * 7' }, 'it takes numbers from 0 (Sunday) to 6'],
    [{ schedule: '' }, 'spec.budgets[1].schedule: Invalid value: "": the cron pattern is empty'],
    [
      { duration: '0h0m' },
      'spec.budgets[1].duration: Invalid value: "0": it lasts no time: expected a duration such as',
    ],
  ])('refuses a budget with %j, which would never begin or always hold', (window, words) => {
    const budgets = [{ nodes: '1' }, { nodes: '0', schedule: '0 9 * * 1-5', duration: '8h', ...window }];
    const { allowed, status } = review?.(requestOf({ ...KWOK, budgets })) ?? {};
    expect(allowed).toBe(false);
    expect(status?.message).toContain(words);
  });

  it('lets people and Headroom write what is not the spec of a group that was stored with such a budget', () => {
    const spec = { ...KWOK, budgets: [{ nodes: '0', schedule: '0 0 30 2 *', duration: '8h' }] };
    const change = { operation: 'UPDATE', oldObject: { metadata, spec } };
    expect(review?.(requestOf(spec, change))).toEqual({ uid: 'a-uid', allowed: true });
  });

  it('refuses one that cannot, with where, what, and what would be right', () => {
    expect(review?.(requestOf({ ...KWOK, minNodes: 4 })).status?.message).toBe(
      'NodeGroup.autoscaler.vpsie.com "web" is invalid: spec.minNodes: Invalid value: 4: at most maxNodes (3)',
    );
    const twice = { ...KWOK, minNodes: 4, labels: { 'k8s.io/a': 'b' } };
    expect(review?.(requestOf(twice)).status?.message).toMatch(
      /is invalid: \[spec\.minNodes: .*, spec\.labels: Invalid value: "k8s\.io\/a": .*\]$/,
    );
  });

  it('refuses one outside of kube-system', () => {
    const object = { metadata: { name: 'web', namespace: 'default' }, spec: KWOK };
    expect(review?.(requestOf(KWOK, { object })).status?.message).toContain('NodeGroups are in kube-system');
  });

  it('warns of a preferred instance type that is not offered, and stores it', () => {
    expect(review?.(requestOf({ ...KWOK, preferredInstanceType: 'large' }))).toMatchObject({
      allowed: true,
      warnings: ['spec.preferredInstanceType: large is none of offeringIDs, so it is not preferred'],
    });
  });

  it('lets everything else of a stored group change, and lets it be deleted', () => {
    const wrong = { ...KWOK, minNodes: 4 };
    const oldObject = { metadata, spec: wrong };
    expect(review?.(requestOf(wrong, { operation: 'UPDATE', oldObject })).allowed).toBe(true);
    expect(review?.(requestOf(wrong, { operation: 'DELETE' })).allowed).toBe(true);
  });
});
