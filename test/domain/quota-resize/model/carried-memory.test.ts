import { describe, expect, it } from 'vitest';
import {
  emptyMemory,
  type ResizeMemory,
  stateOf,
  upgradeMemory,
} from '../../../../domain/quota-resize/model/memory.ts';

const carried: ResizeMemory = {
  ...emptyMemory(),
  state: stateOf({
    id: '0a1b2c3d',
    quotaUid: 'uid-1',
    decidedAt: 1_763_625_600_000,
    changes: [{ resource: 'requests.cpu', from: '10', to: '12', used: '9', demand: '0', reason: 'full' }],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: null,
    merge: null,
  }),
  attempt: { kind: 'blocked', reason: 'FileBusy', message: 'busy', at: 1_763_625_605_000, key: 'propose' },
  quotaUid: 'uid-1',
  emitted: ['approval|x'],
};

describe('a carried memory', () => {
  it('is empty at first, and survives JSON', () => {
    expect(upgradeMemory(undefined)).toEqual(emptyMemory());
    expect(upgradeMemory(JSON.parse(JSON.stringify(carried)) as ResizeMemory)).toEqual(carried);
  });

  it('of a run before a field was added gets that field', () => {
    const { emitted: _, ...older } = carried;
    expect(upgradeMemory(older as ResizeMemory)).toEqual({ ...carried, emitted: [] });
  });

  it.each([
    [4, 'the carried memory has version 4: run a worker of the newer release'],
    [
      2,
      'the carried memory has version 2: it is older than the first release; terminate the workflow, and its next run begins anew',
    ],
  ])('of version %s is not guessed at', (version, message) => {
    expect(() => upgradeMemory({ ...carried, version } as unknown as ResizeMemory)).toThrow(message);
  });
});
