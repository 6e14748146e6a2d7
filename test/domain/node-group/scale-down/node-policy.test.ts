import { describe, expect, it } from 'vitest';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import { isProtected, keptByHours, keptByPolicy } from '../../../../domain/node-group/scale-down/node-policy.ts';
import { groupOf, machineOf, nodeOf, NOW } from '../builders.ts';

const group = groupOf('web');
const HOURS = 'autoscaler.vpsie.com/scale-down-allowed-hours';

function policy(node: Partial<Node>, over: Partial<NodeGroup> = {}, creationReason = 'metrics') {
  const machine = machineOf('m', 'web', { creationReason });
  return keptByPolicy({ ...group, ...over }, { ...nodeOf('a'), createdAt: NOW, ...node }, machine, NOW);
}

describe('what people said about a node', () => {
  it('is nothing for an ordinary one', () => {
    expect([policy({}), policy({}, {}, '')]).toEqual([null, null]);
  });

  it('that nobody created for pods keeps it', () => {
    expect(policy({}, {}, 'manual')).toEqual({
      reason: 'UnmanagedNode',
      detail: 'its machine was not created for pods: autoscaler.vpsie.com/creation-reason is manual',
      until: null,
    });
  });

  it('by its group: scaling down is disabled', () => {
    expect(policy({}, { scaleDown: { ...group.scaleDown, enabled: false } })?.reason).toBe('PolicyDisabled');
    expect(policy({}, { annotations: { 'autoscaler.vpsie.com/scale-down-disabled': 'true' } })?.reason).toBe(
      'ScaleDownDisabled',
    );
  });

  it.each([
    ['autoscaler.vpsie.com/scale-down-disabled', 'true'],
    ['autoscaler.vpsie.com/scale-down', 'disabled'],
    ['cluster-autoscaler.kubernetes.io/scale-down-disabled', 'true'],
  ])('by the annotation %s=%s keeps it, and by no other value', (key, value) => {
    expect(policy({ annotations: { [key]: value } })).toMatchObject({
      reason: 'ScaleDownDisabled',
      detail: `the annotation ${key}=${value} keeps it`,
    });
    expect(policy({ annotations: { [key]: 'false' } })).toBeNull();
  });

  it('protects it, by an annotation or a label', () => {
    const key = 'autoscaler.vpsie.com/protected';
    expect(policy({ annotations: { [key]: 'true' } })?.reason).toBe('Protected');
    expect(policy({ labels: { [key]: 'true' } })?.reason).toBe('Protected');
    expect(isProtected({ annotations: {}, labels: { [key]: 'false' } })).toBe(false);
  });

  it('holds as long as do-not-disrupt says', () => {
    expect(policy({ annotations: { 'karpenter.sh/do-not-disrupt': '1h' } })).toMatchObject({
      reason: 'DoNotDisrupt',
      until: NOW + 3_600_000,
    });
  });

  it.each(['9999999999h', `${'9'.repeat(400)}h`])('holds for ever where do-not-disrupt says %s', (text) => {
    expect(policy({ annotations: { 'karpenter.sh/do-not-disrupt': text } })).toMatchObject({
      reason: 'DoNotDisrupt',
      until: null,
    });
  });
});

describe('the hours of a node', () => {
  const at = Date.UTC(2026, 0, 5, 12);
  const kept = (onNode: string | null, onGroup: string | null = null) =>
    keptByHours(
      { annotations: onGroup === null ? {} : { [HOURS]: onGroup } },
      { annotations: onNode === null ? {} : { [HOURS]: onNode } },
      at,
    );

  it('keep it outside of them, until they begin', () => {
    expect(kept('22:00-06:00')).toMatchObject({ reason: 'OutsideAllowedHours', until: Date.UTC(2026, 0, 5, 22) });
    expect([kept('9-17'), kept(null)]).toEqual([null, null]);
  });

  it('go before those of its group', () => {
    expect([kept('9-17', '22-6'), kept(null, '22-6')?.reason]).toEqual([null, 'OutsideAllowedHours']);
  });

  it('that nobody can read, or that never come, keep it', () => {
    expect(kept('at night')?.detail).toContain('nobody can read the hours');
    expect(kept('9-9')).toMatchObject({ until: null });
  });
});
