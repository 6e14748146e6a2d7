/** The queries of saved views name phases that there are. */
import { expect, it } from 'vitest';
import { drainAwaits, nodeGroupAwaits } from '../../domain/node-group/awaited.ts';
import { lightsOutAwaits } from '../../domain/lights-out/awaited.ts';
import { memcachedAwaits } from '../../domain/memcached/awaited.ts';
import { PERSON } from '../../domain/kernel/awaited.ts';
import { resizeAwaits } from '../../domain/quota-resize/awaited.ts';
import { usageAwaits } from '../../domain/quota-usage/awaited.ts';
import { read, sectionOf } from './reading.ts';

const awaits = {
  ...usageAwaits,
  ...memcachedAwaits,
  ...drainAwaits,
  ...nodeGroupAwaits,
  ...lightsOutAwaits,
  ...resizeAwaits,
};
const section = sectionOf(read('docs/overview.md'), "## Temporal's UI at a glance");
const phasesIn = (text: string): readonly string[] =>
  [...text.matchAll(/HeadroomPhase (?:= ('[^']+')|IN \(([^)]+)\))/g)].flatMap(([, one, many]) =>
    (one ?? many ?? '').split(', ').map((quoted) => quoted.replaceAll("'", '')),
  );

it('the queries of saved views name phases that there are', () => {
  expect(phasesIn(section).length).toBeGreaterThan(10);
  expect(phasesIn(section).filter((phase) => !Object.hasOwn(awaits, phase))).toEqual([]);
});

it('the view of what waits for a person has every phase that does, but for pauses, which have a view of their own', () => {
  const [line = ''] = section.split('\n').filter((text) => text.startsWith('- Waits for a person:'));
  const forPeople = Object.entries(awaits).filter(([phase, awaited]) => awaited?.whom === PERSON && phase !== 'Paused');
  expect(phasesIn(line).toSorted()).toEqual(forPeople.map(([phase]) => phase).toSorted());
});
