import { describe, expect, it } from 'vitest';
import { readWhatIf, withUsage } from '../../../../../starter/cli/quota-resize/explain/what-if.ts';
import { observation } from '../../../../domain/quota-resize/model/observations.ts';

describe('--what-if', () => {
  it('adds up usage and replicas, in any order', () => {
    const asked = ['requests.cpu=12000m', 'replicas=web=10', 'replicas=statefulset/db=0', 'pods=30'];
    expect(asked.reduce((before, text) => readWhatIf(text, before), readWhatIf('services=1'))).toEqual({
      used: { services: '1', 'requests.cpu': '12', pods: '30' },
      replicas: [
        { name: 'web', count: 10 },
        { kind: 'StatefulSet', name: 'db', count: 0 },
      ],
    });
  });

  it.each([
    ['requests.cpu', '"requests.cpu" asks nothing'],
    ['=12', '"=12" asks nothing'],
    ['requests.cpu=a lot', '"a lot" is not a quantity'],
    ['requests.cpu=-1', '"-1" is not a quantity'],
    ['replicas=web', '"replicas=web" names no workload and its replicas'],
    ['replicas=web=-1', 'names no workload'],
    ['replicas=web=1.5', 'names no workload'],
    ['replicas=web=1000001', 'names no workload'],
    ['replicas=daemonset/agent=3', 'a DaemonSet has a pod on each of its nodes'],
    ['replicas=cronjob/nightly=3', '"cronjob" is not a kind that has replicas'],
  ])('%s is rejected with what would be right', (text, says) => {
    expect(() => readWhatIf(text)).toThrow(says);
    expect(() => readWhatIf(text)).toThrow('write ');
  });

  it('the same resource twice is rejected', () => {
    expect(() => readWhatIf('pods=2', readWhatIf('pods=1'))).toThrow('pods is given twice');
  });
});

describe('supposed usage', () => {
  it('takes the place of what is used, and contradicts nothing', () => {
    const contradictions = [{ resource: 'requests.cpu', used: '9', counted: '4' }];
    const observed = withUsage(observation({ contradictions }), { 'requests.cpu': '12' });
    expect(observed).toMatchObject({ quota: { used: { 'requests.cpu': '12' } }, contradictions: [] });
  });

  it('of usage takes the place of what was counted, and of what could not be', () => {
    const counting = {
      kind: 'counted',
      differences: [
        { resource: 'requests.cpu', used: '9', counted: '1' },
        { resource: 'pods', used: '3', counted: '2' },
      ],
      unmeasured: [
        { keys: ['requests.cpu', 'requests.memory'], reason: 'you may not list pods' },
        { keys: ['requests.cpu'], reason: 'you may not list pods' },
      ],
    } as const;
    expect(withUsage(observation({ usage: 'audit', counting }), { 'requests.cpu': '12' }).counting).toEqual({
      kind: 'counted',
      differences: [{ resource: 'pods', used: '3', counted: '2' }],
      unmeasured: [{ keys: ['requests.memory'], reason: 'you may not list pods' }],
    });
  });

  it('of a resource without a limit is rejected, and the limits are named', () => {
    expect(() => withUsage(observation(), { pods: '3' })).toThrow(
      'the quota has no limit for pods: it limits requests.cpu',
    );
  });
});
