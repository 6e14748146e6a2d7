import { describe, expect, it } from 'vitest';
import { readInstanceTypes } from '../../../activities/node-group/provider/kwok/instance-types.ts';
import { instanceTypesOf } from '../../../activities/node-group/provider/vpsie/instance-types.ts';
import { readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import { daemonConstraints } from '../../../domain/node-group/scheduling/daemon-template.ts';
import { readAttachLimits, readDaemonSet, readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import * as fc from '../../kernel/fast-check.ts';

/** Any spelling of a quantity, and what is none. */
const amount = fc.oneof(
  fc.constantFrom('1e400', '16Ei', '10000000000000000000', '-1', '1e-400', '1e2000000000', 'Infinity', 'NaN', 'none'),
  fc
    .tuple(fc.stringMatching(/^[0-9]{1,30}$/), fc.constantFrom('', 'n', 'm', 'E', 'Ki', 'Ei', 'e30', 'e-30', 'e999'))
    .map((parts) => parts.join('')),
);
const list = fc.record({ cpu: amount, memory: amount, pods: amount, 'example.com/gpu': amount });
const number = fc.oneof(fc.double(), fc.constantFrom(Number.POSITIVE_INFINITY, Number.NaN, 1e308));

/** Where in a model there is a number that is not finite, or too large for kube-scheduler. */
function oddNumbers(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'number') {
    const most = path.endsWith('pricePerHour') ? Number.MAX_VALUE : 2 ** 63 - 1024;
    return Math.abs(value) <= most ? [] : [`${path}: ${value}`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => oddNumbers(each, `${path}.${key}`));
}

function holds<T>(of: fc.Arbitrary<T>, read: (value: T) => unknown): void {
  fc.assert(
    fc.property(of, (value) => {
      expect(oddNumbers(read(value))).toEqual([]);
    }),
  );
}

describe('no number enters the model that is not finite', () => {
  it('with a pod, also one that is being resized', () => {
    holds(fc.tuple(list, list, list, list), ([requests, actual, allocatedResources, overhead]) =>
      readPod({
        spec: { containers: [{ name: 'a', resources: { requests } }, { resources: { limits: actual } }], overhead },
        status: { containerStatuses: [{ name: 'a', resources: { requests: actual }, allocatedResources }] },
      }),
    );
  });

  it('with the template of a DaemonSet', () => {
    holds(list, (requests) =>
      daemonConstraints(
        readDaemonSet({ spec: { template: { spec: { containers: [{ resources: { requests } }] } } } }),
        {
          limitRanges: [],
          runtimeClasses: [],
        },
      ),
    );
  });

  it('with a node, and what can be attached to it', () => {
    holds(list, (allocatable) => readNode({ status: { allocatable } }));
    holds(number, (count) => readAttachLimits({ spec: { drivers: [{ name: 'csi', allocatable: { count } }] } }));
  });

  it('with the instance types of kwok, of VPSie, and of the status of a group', () => {
    holds(list, (capacity) => {
      try {
        return readInstanceTypes(JSON.stringify([{ id: 'a', capacity, reserved: capacity }]));
      } catch {
        return 'the file is refused';
      }
    });
    const positive = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
    holds(positive, (size) =>
      instanceTypesOf({ offeringIds: ['1'], preferredInstanceType: null, providerSpec: {} }, [
        { id: 1, name: 'a', cpu: size, ram: size, disk: size, pricePerHour: 1 },
      ]),
    );
    holds(number, (each) => {
      const { group } = readNodeGroup(
        {
          metadata: { name: 'web', namespace: 'kube-system' },
          spec: { provider: 'kwok', minNodes: 0, maxNodes: 1, offeringIDs: ['a'] },
          status: {
            instanceTypes: [{ id: 'a', capacity: { cpu: each }, allocatable: { cpu: each }, pricePerHour: each }],
          },
        },
        { mode: 'act' },
      );
      expect(group?.instanceTypes).toHaveLength(1);
      return group?.instanceTypes;
    });
  });
});
