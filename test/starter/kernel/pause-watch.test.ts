import { expect, it } from 'vitest';
import { type PauseConfigMaps, storePause } from '../../../domain/kernel/stored-pause.ts';
import { concernedBy, type RunningTarget } from '../../../starter/kernel/pause-watch.ts';

const resizerOf = (namespace: string): RunningTarget => ({
  workflowId: `quota-resize/prod/${namespace}/compute`,
  target: { controller: 'quota-resize', namespace, name: `${namespace}/compute` },
});
const usage: RunningTarget = {
  workflowId: 'quota-usage/prod/team-a/compute',
  target: { controller: 'quota-usage', namespace: 'team-a', name: 'team-a/compute' },
};
const schedule: RunningTarget = {
  workflowId: 'lights-out/prod/nights',
  target: { controller: 'lights-out', name: 'nights' },
};
const running = [resizerOf('team-a'), resizerOf('team-b'), usage, schedule];

const pause = storePause({ by: 'alice', reason: 'a freeze', at: 0 });
const none: PauseConfigMaps = { everything: null, pauses: {} };
const everything: PauseConfigMaps = { ...none, everything: { data: {}, createdAt: 0 } };
const keyed = (key: string): PauseConfigMaps => ({ everything: null, pauses: { [key]: pause } });

it.each([
  ['everything', everything, running],
  ['a controller', keyed('controller_quota-resize'), [running[0], running[1]]],
  ['a target', keyed('target_quota-resize_team-a_compute'), [running[0]]],
  // A schedule may write to any namespace.
  ['a namespace', keyed('namespace_team-a'), [running[0], usage, schedule]],
  ['nothing that runs', keyed('target_quota-resize_team-c_compute'), []],
] as const)('a pause of %s, and its end, concerns the workflows whose target it is for', (_, paused, concerned) => {
  expect(concernedBy(none, paused, running)).toEqual(concerned);
  expect(concernedBy(paused, none, running)).toEqual(concerned);
  expect(concernedBy(paused, paused, running)).toEqual([]);
});

it('a pause under a wider one concerns nobody before that one ends', () => {
  const both = { ...everything, ...keyed('controller_quota-resize'), everything: everything.everything };
  expect(concernedBy(everything, both, running)).toEqual([]);
  expect(concernedBy(both, keyed('controller_quota-resize'), running)).toEqual(running);
});
