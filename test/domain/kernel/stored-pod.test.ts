import { describe, expect, it } from 'vitest';
import { type LimitRange, storedPodSpec, type TemplateSpec } from '../../../domain/kernel/stored-pod.ts';
import { podCharge } from '../../../domain/quota-usage/pod-charge.ts';

const withDefaults = (spec: TemplateSpec, limitRanges: readonly LimitRange[]) =>
  storedPodSpec(spec, { limitRanges, runtimeClass: null });
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

  it('opens the ports of a pod in the network of its host there, also those of init containers', () => {
    const ports = [{ containerPort: 9100 }, { containerPort: 80, hostPort: 8080 }];
    const template = { containers: [{ ports }], initContainers: [{ ports }] };
    const open = [{ ports: [{ containerPort: 9100, hostPort: 9100 }, ports[1]] }];
    expect(withDefaults({ ...template, hostNetwork: true }, [])).toMatchObject({
      containers: open,
      initContainers: open,
    });
    expect(withDefaults(template, []).containers?.[0]?.ports).toEqual(ports);
  });

  it('adds the overhead, the selector and the tolerations of the RuntimeClass', () => {
    const runtimeClass = {
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] },
    };
    const template = { containers: [{}], nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'own' }] };
    expect(storedPodSpec(template, { limitRanges: [], runtimeClass })).toMatchObject({
      overhead: { cpu: '250m' },
      nodeSelector: { disk: 'ssd', sandbox: 'yes' },
      tolerations: [{ key: 'own' }, { key: 'sandbox', operator: 'Exists' }],
    });
    expect(storedPodSpec(template, { limitRanges: [], runtimeClass: {} })).toMatchObject(template);
  });

  it('does not count amounts that take minutes to calculate', () => {
    const containers = [{ resources: { requests: { cpu: '1e1000000', memory: '1Gi' } } }];
    const spec = withDefaults({ containers, resources: { limits: { cpu: '1' } } }, []);
    expect(spec.resources?.requests).toEqual({ cpu: '1', memory: '1Gi' });
  });
});
