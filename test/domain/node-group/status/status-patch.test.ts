import { describe, expect, it } from 'vitest';
import { groupCounts } from '../../../../domain/node-group/status/group-counts.ts';
import { leaseFullPatch } from '../../../../domain/node-group/status/lease-full.ts';
import { statusPatch, wantedStatusOf } from '../../../../domain/node-group/status/status-patch.ts';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import { groupOf, machineOf, NOW, nodeOf } from '../builders.ts';

const SECOND = 1000;
const read = { group: groupOf('web', { generation: 3 }), generation: 3, problems: [] };
const counts = { current: 2, ready: 2, unready: 0, leaving: 0 };

function written(present: object, at = NOW): object {
  return { ...present, ...statusPatch({ ...present }, wantedStatusOf(read, counts, at), at) };
}

describe('the status of a group', () => {
  it('is not written where it says all of it', () => {
    const status = written({});
    expect(status).toMatchObject({ currentNodes: 2, readyNodes: 2, desiredNodes: 2, observedGeneration: 3 });
    expect(statusPatch({ ...status }, wantedStatusOf(read, counts, NOW), NOW + SECOND)).toBeNull();
  });

  it('has conditions that began when they changed, and those of others stay', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const before = written({ conditions: [foreign] });
    const wanted = wantedStatusOf(read, { ...counts, ready: 1 }, NOW + SECOND);
    const after = statusPatch({ ...before }, wanted, NOW + SECOND);
    const times = ((after?.['conditions'] ?? []) as { type: string; lastTransitionTime?: string }[]).map(
      ({ type, lastTransitionTime }) => [type, lastTransitionTime],
    );
    const [began, changed] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
    expect(times).toEqual([
      ['Foreign', undefined],
      ['Ready', began],
      ['Scaling', changed],
      ['Error', began],
      ['AtMinCapacity', began],
      ['AtMaxCapacity', began],
    ]);
    expect(after).not.toHaveProperty('desiredNodes');
  });

  it('says that the Lease of plans is full until nobody has said so for half an hour', () => {
    const full = leaseFullPatch(written({}) as Record<string, unknown>, 'it is full', NOW);
    const status = { ...written({}), ...full };
    const patch = (at: number) => statusPatch(status, wantedStatusOf(read, counts, at), at);
    expect(status['conditions']).toContainEqual(expect.objectContaining({ type: 'LeaseFull', message: 'It is full.' }));
    expect(patch(NOW + 29 * 60 * SECOND)).toBeNull();
    expect(patch(NOW + 30 * 60 * SECOND)).toEqual(expect.objectContaining({ conditions: expect.any(Array) }));
    expect(JSON.stringify(patch(NOW + 30 * 60 * SECOND))).not.toContain('LeaseFull');
    // Said again, it goes on, since when it began.
    const again = leaseFullPatch(status, 'it is full', NOW + 20 * 60 * SECOND);
    const said = { ...status, ...again };
    expect(statusPatch(said, wantedStatusOf(read, counts, NOW), NOW + 45 * 60 * SECOND)).toBeNull();
    expect(again['conditions']).toContainEqual(
      expect.objectContaining({ type: 'LeaseFull', lastTransitionTime: '2026-01-01T00:00:00Z' }),
    );
  });

  it('of an object that cannot be read says what is wrong with it, and nothing of its nodes', () => {
    const invalid = { group: null, generation: 4, problems: ['spec.minNodes: too many'] };
    expect(statusPatch({ currentNodes: 2 }, wantedStatusOf(invalid, counts, NOW), NOW)).toEqual({
      observedGeneration: 4,
      conditions: [
        expect.objectContaining({ type: 'Ready', status: 'False', message: 'spec.minNodes: too many' }),
        expect.objectContaining({ type: 'Error', status: 'True' }),
      ],
    });
  });
});

describe('the counts of a group', () => {
  it('have nodes that are drained as current, and not as ready', () => {
    const node = nodeOf('node-1');
    const drained = { ...node, annotations: markPatch(node, 'node-drain/c/uid', NOW).metadata.annotations };
    const machine = machineOf('m', 'web', { phase: 'Ready' });
    expect(
      groupCounts([
        [machine, node],
        [machine, drained as typeof node],
        [machine, { ...node, ready: { status: 'Unknown', since: NOW } }],
        [{ ...machine, phase: 'Joining' }, null],
        [{ ...machine, phase: 'Deleting', isDeleting: true }, null],
        [{ ...machine, phase: 'Failed' }, null],
      ]),
    ).toEqual({ current: 5, ready: 1, unready: 1, leaving: 2 });
  });
});
