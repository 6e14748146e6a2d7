import { describe, expect, it } from 'vitest';
import { withDefaults } from '../../../domain/quota-usage/limit-range.ts';
import { podCharge } from '../../../domain/quota-usage/pod-charge.ts';

const container = (limits: object) => ({ spec: { limits: [{ type: 'Container', ...limits }] } });

describe('what the API server adds to a template', () => {
  it('asks for the limit where only a limit is stated, before any LimitRange', () => {
    const spec = withDefaults({ containers: [{ resources: { limits: { cpu: '2' } } }] }, [
      container({ defaultRequest: { cpu: '100m', memory: '64Mi' }, default: { cpu: '1', memory: '128Mi' } }),
    ]);
    expect(spec.containers?.[0]?.resources).toEqual({
      requests: { cpu: '2', memory: '64Mi' },
      limits: { cpu: '2', memory: '128Mi' },
    });
  });

  it('fills in every container and init container, and charges the pod for it', () => {
    const spec = withDefaults({ containers: [{}, {}], initContainers: [{}] }, [
      container({ defaultRequest: { cpu: '300m' } }),
    ]);
    expect(podCharge({ spec }, 0)).toMatchObject({ 'requests.cpu': '600m' });
  });

  it('lets the first LimitRange win and ignores those for pods and claims', () => {
    const spec = withDefaults({ containers: [{}] }, [
      { spec: { limits: [{ type: 'Pod', defaultRequest: { cpu: '9' } }] } },
      container({ defaultRequest: { cpu: '100m' } }),
      container({ defaultRequest: { cpu: '200m', memory: '1Mi' } }),
      {},
    ]);
    expect(spec.containers?.[0]?.resources?.requests).toEqual({ cpu: '100m', memory: '1Mi' });
  });

  it('defaults pod-level requests from the containers, then from the pod-level limits', () => {
    const spec = withDefaults(
      {
        containers: [{ resources: { requests: { cpu: '1' }, limits: { 'hugepages-2Mi': '4Mi' } } }],
        resources: { limits: { cpu: '4', memory: '1Gi' } },
      },
      [],
    );
    expect(spec.resources).toEqual({
      requests: { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
      limits: { cpu: '4', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    });
  });

  it('leaves a template that says everything as it is', () => {
    const given = {
      containers: [{ resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }],
      priorityClassName: 'high',
    };
    expect(withDefaults(given, [])).toEqual(given);
  });
});
