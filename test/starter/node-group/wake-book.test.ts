import { expect, it } from 'vitest';
import type { WakeReason } from '../../../domain/node-group/decide/wake.ts';
import { WakeBook } from '../../../starter/node-group/wake-book.ts';

const rest: WakeReason = { key: 'rest', cause: null, isToAct: false, isShown: false };
const pods: WakeReason = { key: 'pods', cause: 'some pending pods get no new node', isToAct: false, isShown: true };
const nodes: WakeReason = { key: 'nodes', cause: 'nodes are to come', isToAct: true, isShown: false };

function atRest(): WakeBook {
  const wakes = new WakeBook();
  wakes.planned('web', rest);
  return wakes;
}

it('a group is woken once for each reason, and once when what it shows is over', () => {
  const wakes = atRest();
  expect([pods, pods, rest, rest, nodes, nodes, rest].map((reason) => wakes.planned('web', reason))).toEqual([
    pods.cause,
    null,
    'what it showed may be over',
    null,
    nodes.cause,
    null,
    null,
  ]);
});

it('a group that observed what no plan woke it for is woken when that is over', () => {
  const wakes = atRest();
  wakes.told('web', pods);
  expect(wakes.planned('web', rest)).toBe('what it showed may be over');
});

it('a group that has gone to rest is woken by the same reason again', () => {
  const wakes = atRest();
  expect(wakes.planned('web', nodes)).toBe(nodes.cause);
  wakes.told('web', rest);
  expect(wakes.planned('web', nodes)).toBe(nodes.cause);
});

it('a group whose answer may be lost is woken for what is to be done', () => {
  const wakes = atRest();
  wakes.told('web', nodes);
  expect(wakes.planned('web', nodes)).toBe(nodes.cause);
});

it('each group is woken once after a start, as nobody knows what it shows', () => {
  const wakes = new WakeBook();
  expect(wakes.planned('web', rest)).toBe('what it showed may be over');
  expect(wakes.planned('web', rest)).toBeNull();
});

it('a resync wakes again for what is to be done, and for nothing that is only shown', () => {
  const wakes = atRest();
  wakes.planned('web', nodes);
  wakes.planned('db', pods);
  wakes.resync();
  expect(wakes.planned('web', nodes)).toBe(nodes.cause);
  expect(wakes.planned('db', pods)).toBeNull();
});
