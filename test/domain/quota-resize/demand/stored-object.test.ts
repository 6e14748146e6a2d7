import { describe, expect, it } from 'vitest';
import { defaultStorageClass } from '../../../../domain/quota-resize/demand/stored-object.ts';

const [MARK, OLDER_MARK] = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
const marked = (name: string, day: number, mark = MARK, value = 'true') => ({
  metadata: { name, creationTimestamp: `2026-11-0${day}T10:00:00Z`, annotations: { [mark]: value } },
});

describe('the storage class of a claim without one', () => {
  it('is the newest of those that are marked as default, by the mark of today or by the older one', () => {
    expect(defaultStorageClass([marked('old', 1), marked('new', 2, OLDER_MARK)])).toBe('new');
    expect(defaultStorageClass([marked('b', 1), marked('a', 1), marked('off', 2, MARK, 'false')])).toBe('a');
    expect(defaultStorageClass([marked('off', 1, OLDER_MARK, 'false'), { metadata: { name: 'plain' } }])).toBeNull();
  });
});
