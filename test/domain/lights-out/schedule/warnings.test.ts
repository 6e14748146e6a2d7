import { describe, expect, it } from 'vitest';
import { type ScheduleSpec, scheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';
import { scheduleWarnings } from '../../../../domain/lights-out/schedule/warnings.ts';

const good = scheduleSpec.parse({ upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'] });
const now = Date.UTC(2026, 10, 20, 10);
const context = { now, protectedNamespaces: ['temporal'] };

const warnings = (part: Partial<ScheduleSpec>, others: Parameters<typeof scheduleWarnings>[1] = []) =>
  scheduleWarnings({ ...good, ...part }, others, context);

describe('a schedule is warned of', () => {
  it('nothing where it is as it should be', () => {
    const exceptions = [
      { from: '2026-11-20', state: 'Up' as const },
      // Over in Asia, and not yet in America.
      { from: '2026-11-19', state: 'Up' as const },
      { from: '01-01', state: 'Down' as const },
    ];
    const upscaleRateLimit = { batchSize: 5, delayBetweenBatches: '30s' };
    expect(
      scheduleWarnings({ ...good, exceptions, upscaleRateLimit }, [], { now: Date.UTC(2026, 10, 20, 11) }),
    ).toEqual([]);
  });

  it('others that may want the same workloads, by name, the rest by number', () => {
    const others = ['one', 'two', 'three', 'four', 'five'].map((name) => ({ name, spec: good }));
    const apart = { name: 'apart', spec: { ...good, namespaces: ['team-b'] } };
    expect(warnings({}, [apart])).toEqual([]);
    expect(warnings({}, [others[0] ?? apart, apart])).toEqual([
      'may want the same workloads as the schedule one: each workload follows only one of them, the oldest that selects it',
    ]);
    expect(warnings({}, others)).toEqual([
      expect.stringMatching(/as the schedules one, two, three and 2 more: each workload/),
    ]);
  });

  it.each<[string, Partial<ScheduleSpec>, RegExp]>([
    [
      'a delay without batches',
      { upscaleRateLimit: { delayBetweenBatches: '5s' } },
      /^spec\.upscaleRateLimit.* batchSize/,
    ],
    ['the other delay', { downscaleRateLimit: { delayBetweenBatches: '5s' } }, /^spec\.downscaleRateLimit/],
    ['two patterns that are the same', { upscale: '0  6 * * MON', downscale: '0 6 * * mon' }, /nothing is ever woken$/],
    ['a namespace of the system', { namespaces: ['a', 'kube-system'] }, /has the protected namespace kube-system:/],
    [
      'namespaces that are protected',
      { namespaces: ['temporal', 'a', 'kube-public'] },
      /namespaces temporal and kube-public:/,
    ],
    ['a name that is excluded too', { namespaces: ['a', 'b'], excludeNamespaces: ['b'] }, /: b will be left alone$/],
    ['an empty selector', { namespaceSelector: {} }, /^spec\.namespaceSelector is empty and selects every namespace/],
    [
      'a day that is over',
      { exceptions: [{ from: '2026-11-18', state: 'Up' }] },
      /^spec\.exceptions has one that is over: 2026-11-18$/,
    ],
    [
      'days that are over',
      {
        exceptions: [
          { from: '2026-01-01', to: '2026-01-06', state: 'Up' },
          { from: '2025-12-24', state: 'Up' },
        ],
      },
      /has 2 that are over: 2026-01-06 and 2025-12-24$/,
    ],
  ])('%s', (_, part, warning) => {
    expect(warnings(part)).toEqual([expect.stringMatching(warning)]);
  });

  it('exclusions that leave nothing, but not where a selector may find something', () => {
    const part = { namespaces: ['a', 'temporal'], excludeNamespaces: ['a'] };
    expect(warnings(part)).toContain('selects nothing: every namespace of spec.namespaces is excluded or protected');
    const selector = { namespaceSelector: { matchLabels: { team: 'a' } } };
    expect(warnings({ ...part, ...selector }).filter((warning) => warning.startsWith('selects nothing'))).toEqual([]);
  });

  it('nothing that depends on what is not known', () => {
    const exceptions = [{ from: '2020-01-01', state: 'Up' as const }];
    expect(scheduleWarnings({ ...good, exceptions, namespaces: ['temporal'] }, [])).toEqual([]);
  });

  it('so much at most that the API server does not cut it', () => {
    const long = 'n'.repeat(40);
    const others = Array.from({ length: 1000 }, (_, n) => ({ name: `${long}-${n}`, spec: good }));
    for (const warning of warnings({ namespaceSelector: {} }, others)) expect(warning.length).toBeLessThanOrEqual(256);
  });
});
