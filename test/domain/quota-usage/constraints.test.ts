import { describe, expect, it } from 'vitest';
import { podConstraints } from '../../../domain/quota-usage/constraints.ts';

const cpuOnly = (name: string) => ({ name, resources: { requests: { cpu: '1m' }, limits: { cpu: '2m' } } });

describe('what a pod must state under a quota', () => {
  it('is asked of every container, by name', () => {
    const required = ['memory'];
    const rejection = 'must specify memory for: ';
    expect(podConstraints(required, { spec: { initContainers: [cpuOnly('dummy')] } })).toBe(`${rejection}dummy`);
    expect(podConstraints(required, { spec: { containers: [cpuOnly('dummy')] } })).toBe(`${rejection}dummy`);
    const [foo, bar] = [cpuOnly('foo'), cpuOnly('bar')];
    expect(podConstraints(required, { spec: { initContainers: [foo, bar] } })).toBe(`${rejection}bar,foo`);
    expect(podConstraints(required, { spec: { containers: [foo], initContainers: [bar] } })).toBe(
      `${rejection}bar,foo`,
    );
    expect(podConstraints(required, { spec: { containers: [{}] } })).toBe(rejection);
  });

  it('is told in one order, whatever the order of the quota', () => {
    const pod = { spec: { containers: [{ name: 'foo' }, { name: 'bar' }] } };
    expect(podConstraints(['memory', 'cpu'], pod)).toBe('must specify cpu for: bar,foo; memory for: bar,foo');
    expect(podConstraints(['requests.memory', 'limits.cpu'], pod)).toBe(
      'must specify limits.cpu for: bar,foo; requests.memory for: bar,foo',
    );
  });

  it('is stated by a zero, and not by the other side', () => {
    const pod = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '0' } } }] } };
    expect(podConstraints(['cpu', 'requests.cpu', 'pods'], pod)).toBeNull();
    expect(podConstraints(['limits.cpu'], pod)).toBe('must specify limits.cpu for: app');
  });

  it('is only cpu and memory', () => {
    const names = [
      'pods',
      'requests.ephemeral-storage',
      'requests.nvidia.com/gpu',
      'hugepages-2Mi',
      'requests.storage',
    ];
    expect(podConstraints(names, { spec: { containers: [{ name: 'app' }] } })).toBeNull();
    expect(podConstraints([], {})).toBeNull();
  });

  it('need not be stated by the containers of a pod that states something as a whole', () => {
    const whole = (resources: object) =>
      podConstraints(['memory', 'cpu'], { spec: { resources, containers: [{ name: 'foo' }] } });
    expect(whole({ requests: { cpu: '1m' } })).toBeNull();
    expect(whole({ limits: { 'hugepages-2Mi': '2Mi' } })).toBeNull();
    const rejection = 'must specify cpu for: foo; memory for: foo';
    expect(whole({ requests: { storage: '1' } })).toBe(rejection);
    expect(whole({})).toBe(rejection);
  });
});
