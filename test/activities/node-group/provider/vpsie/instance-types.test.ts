import { describe, expect, it } from 'vitest';
import { instanceTypesOf } from '../../../../../activities/node-group/provider/vpsie/instance-types.ts';

const GIB = 1024 ** 3;
const offers = [
  { id: 21, name: 'small', cpu: 2, ram: 4096, disk: 80, pricePerHour: 0.03 },
  { id: 22, name: 'large', cpu: 8, ram: 32_768, disk: 0, pricePerHour: null },
];

function types(offeringIds: readonly string[], preferredInstanceType: string | null = null) {
  return instanceTypesOf({ offeringIds, preferredInstanceType, providerSpec: { kubeSizeID: '22' } }, offers);
}

describe("the instance types of VPSie's sizes", () => {
  it('are found by number and by name, and leave something to the system', () => {
    expect(types(['21', 'large'])).toEqual([
      {
        id: '21',
        capacity: { cpu: 2000, memory: 4 * GIB, pods: 110, 'ephemeral-storage': 80 * GIB },
        // GKE reserves 6 % of a core and 1 % of the second one, a quarter of 4 GiB; the kubelet evicts at 100 MiB and 10 %.
        allocatable: { cpu: 1930, memory: 3 * GIB - 100 * 1024 ** 2, pods: 110, 'ephemeral-storage': 72 * GIB },
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/os': 'linux',
          'autoscaler.vpsie.com/offering': '21',
        },
        pricePerHour: 0.03,
        isAvailable: true,
      },
      expect.objectContaining({ id: 'large', pricePerHour: null }),
    ]);
  });

  it('an offering that is no size is kubeSizeID where it comes first, as in the VPSie autoscaler', () => {
    expect(types(['standard-1', 'standard-2']).map(({ id, capacity }) => [id, capacity['cpu']])).toEqual([
      ['standard-1', 8000],
    ]);
    expect(types(['standard-1', 'standard-2'], 'standard-2').map(({ id }) => id)).toEqual(['standard-2']);
  });
});
