import { describe, expect, it } from 'vitest';
import { readInstanceTypes } from '../../../../../activities/node-group/provider/kwok/instance-types.ts';

describe('the instance types of kwok', () => {
  it('are read with what is left for pods, and the labels that every node has', () => {
    const text = `
- id: small
  capacity: { cpu: 4, memory: 8Gi }
  reserved: { cpu: 100m, memory: 10Mi }
  labels: { topology.kubernetes.io/zone: a }
  pricePerHour: 0.25
- id: none-left
  capacity: { cpu: 500m, memory: 1Gi, pods: 10 }
  isAvailable: false
`;
    expect(readInstanceTypes(text)).toEqual([
      {
        id: 'small',
        capacity: { cpu: 4000, memory: 8 * 1024 ** 3, pods: 110 },
        allocatable: { cpu: 3900, memory: 8 * 1024 ** 3 - 10 * 1024 ** 2, pods: 110 },
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/os': 'linux',
          'node.kubernetes.io/instance-type': 'small',
          'topology.kubernetes.io/zone': 'a',
        },
        pricePerHour: 0.25,
        isAvailable: true,
      },
      expect.objectContaining({
        id: 'none-left',
        allocatable: { cpu: 500, memory: 1024 ** 3, pods: 10 },
        pricePerHour: null,
        isAvailable: false,
      }),
    ]);
  });

  it('a list that cannot be read is refused with what is wrong', () => {
    expect(() => readInstanceTypes('- { id: small, capacity: { cpu: many } }')).toThrow('not a quantity');
    expect(() => readInstanceTypes('- { capacity: { cpu: 1 } }')).toThrow('id');
    expect(() => readInstanceTypes('- {')).toThrow('Flow map');
  });
});
