import { expect, it } from 'vitest';
import { GROUP_LABEL } from '../../../../domain/node-group/api/names.ts';
import { ONE_MOMENT } from '../../../../starter/cli/node-group/moment.ts';
import { previewOf, previewText } from '../../../../starter/cli/node-group/preview-text.ts';
import { groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../../../domain/node-group/builders.ts';
import { localOf } from './local.ts';

const terminal = { width: 2_000, colours: false };

it('the preview has what would come and go, what waits, and pods that no node would help', () => {
  const createdAt = NOW - 86_400_000;
  const labels = { [GROUP_LABEL]: 'idle' };
  const state = stateOf({
    groups: [
      groupOf('idle', { mode: 'observe' }),
      groupOf('pool', { taints: [{ key: 'pool', effect: 'NoSchedule' }] }),
    ],
    instanceTypes: { pool: [typeOf('small', 4, 16)] },
    nodes: [nodeOf('idle-1', { cpu: '1', memory: '1Gi', pods: '110' }, labels)],
    machines: [machineOf('idle-1', 'idle', { node: 'idle-1', phase: 'Ready', createdAt })],
    pods: [
      ...Array.from({ length: 7 }, (_, index) =>
        podOf(`p${index}`, { cpu: '2' }, { tolerations: [{ key: 'pool', operator: 'Exists' }] }),
      ),
      podOf('huge', { cpu: '64' }),
    ],
  });
  const local = localOf(state);
  const preview = previewOf(local, null);
  const text = previewText(preview, terminal).split('\n');
  expect(text.slice(0, 6)).toEqual([
    'New nodes',
    '  pool: 4 nodes of small for 7 pending pods (default/p0, default/p1, default/p2, default/p3, default/p4 and 2 more)',
    'Nodes that may go, in this order',
    '  none',
    'Nodes that nothing needs, and that wait',
    '  idle-1 of idle (NotUnneededLongEnough): nothing needs it now; it may go when that has been so for 10 min',
  ]);
  expect(text[6]).toBe('Pods that get no new node');
  expect(text[7]).toMatch(/^ {2}default\/huge \(\w+\): /);
  expect(text.slice(8)).toEqual([
    'Notes',
    '  The NodeGroup idle only observes: nothing is done until its mode is act.',
    `  ${ONE_MOMENT}`,
    '',
  ]);
  expect(preview.newNodes[0]?.pods).toHaveLength(7);
  expect(previewOf(local, 'idle')).toMatchObject({ newNodes: [], groups: [{ name: 'idle' }], kept: [{}] });
});

it('the preview says who else acts on NodeGroups, which of them are invalid, and that there are none', () => {
  const group = groupOf('pool');
  const local = localOf(stateOf(), {
    groups: [{ ...group, group: null, problems: ['spec.minNodes: Required value'] }],
    heldBy: 'another controller acts on NodeGroups',
  });
  expect(previewText(previewOf(local, null), terminal)).toBe(
    [
      'New nodes',
      '  none',
      'Nodes that may go, in this order',
      '  none',
      'Notes',
      '  Nothing is written for any NodeGroup: another controller acts on NodeGroups.',
      '  The NodeGroup pool is invalid: spec.minNodes: Required value.',
      `  ${ONE_MOMENT}`,
      '',
    ].join('\n'),
  );
  expect(previewText(previewOf(localOf(stateOf()), null), terminal)).toBe('prod has no NodeGroup.\n');
});
