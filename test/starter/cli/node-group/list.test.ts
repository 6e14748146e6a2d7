import { expect, it } from 'vitest';
import { explainArgument } from '../../../../starter/cli/node-group/arguments.ts';
import { listText, rowOf } from '../../../../starter/cli/node-group/list.ts';
import { statusText } from '../../../../starter/cli/node-group/status-text.ts';

const terminal = { width: 100, colours: false };

const objectOf = (name: string, spec: object, status: object) => ({
  metadata: { name, namespace: 'kube-system', uid: 'u', generation: 1 },
  spec: { provider: 'kwok', minNodes: 0, maxNodes: 5, offeringIDs: ['small', 'medium'], ...spec },
  status,
});

it('the list says of each NodeGroup how many nodes it has, what it may have, and what is wrong', () => {
  const counts = { currentNodes: 3, readyNodes: 2, desiredNodes: 3 };
  const fine = { ...counts, conditions: [{ type: 'Ready', status: 'True', message: '2 of 3 nodes are ready.' }] };
  const failing = {
    ...counts,
    conditions: [
      { type: 'Ready', status: 'False', reason: 'NodesNotReady', message: 'no machine came' },
      { type: 'Error', status: 'True', reason: 'MachineFailed', message: 'no machine came' },
      { type: 'AtMaxCapacity', status: 'True' },
    ],
  };
  const rows = [
    objectOf('fine', { mode: 'act' }, fine),
    objectOf('failing', {}, failing),
    objectOf('wrong', { minNodes: 9 }, {}),
  ].map((object) => rowOf(object, 'observe'));
  expect(
    listText('prod', rows, terminal)
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd()),
  ).toEqual([
    'NODEGROUP  NODES  READY  DESIRED  MIN-MAX  PROVIDER  MODE     INSTANCE TYPES',
    'fine           3      2        3      0-5  kwok      act      small, medium',
    'failing        3      2        3      0-5  kwok      observe  small, medium',
    '  No machine came.',
    '  AtMaxCapacity is True.',
    'wrong          -      -        -      9-5  kwok      invalid  -',
    '  spec.minNodes: Invalid value: 9: at most maxNodes (5).',
    '',
    'headroom node-groups status GROUP says more.',
  ]);
  expect(rows[1]?.troubles.map(({ type }) => type)).toEqual(['Ready', 'Error', 'AtMaxCapacity']);
  expect(rows[2]).toMatchObject({ mode: null, troubles: [{ reason: 'Invalid' }] });
  expect(listText('prod', [], terminal)).toBe('prod has no NodeGroup.\n');
});

it('the status has what is done, why nodes stay, and what people said', () => {
  const text = statusText(
    {
      target: { cluster: 'prod', group: 'pool' },
      phase: 'ScalingDown',
      reason: 'Draining',
      detail: 'draining pool-1',
      facts: ['pool-2 stays: it is needed'],
      since: '2026-01-01T00:00:00Z',
      paused: null,
      draining: ['pool-1'],
      lastCommand: 'drain by alice',
    },
    Date.UTC(2026, 0, 1, 0, 10),
  );
  expect(text.split('\n')).toEqual([
    'pool: ScalingDown (Draining) since 2026-01-01T00:00:00Z (10 min ago)',
    'Draining pool-1.',
    '  pool-2 stays: it is needed.',
    '  Draining: pool-1',
    '  Last command: drain by alice',
  ]);
});

it('what is explained is a pod by namespace and name, or a node by its name', () => {
  expect(explainArgument('team-a/web-0')).toEqual({ kind: 'pod', namespace: 'team-a', name: 'web-0' });
  expect(explainArgument('pool-1.internal')).toEqual({ kind: 'node', name: 'pool-1.internal' });
  for (const wrong of ['', 'a/b/c', 'Team/web', 'team-a/', 'no node']) {
    expect(() => explainArgument(wrong)).toThrow(`"${wrong}" is neither a pod`);
  }
});
