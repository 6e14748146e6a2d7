import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { readSchedule } from '../../../../domain/lights-out/schedule/read-schedule.ts';

const least = { upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'] };
const problemsOf = (spec: unknown) =>
  readSchedule({ spec }).problems.map(({ field, message }) => `${field}: ${message}`);

describe('the spec of a schedule', () => {
  it('is read with its defaults, and unknown fields are ignored', () => {
    const { spec, problems } = readSchedule({ spec: { ...least, argoCD: { namespace: 'argocd' } }, metadata: 5 });
    expect(problems).toEqual([]);
    expect(spec).toMatchObject({ ...least, timezone: 'UTC', suspend: false, downscaleReplicas: 0 });
    expect(spec).not.toHaveProperty('argoCD');
  });

  it('has UTC for an empty time zone, and for nothing', () => {
    for (const timezone of ['', null, undefined]) {
      expect(readSchedule({ spec: { ...least, timezone } }).spec?.timezone).toBe('UTC');
    }
  });

  it('takes a null as absent, as the API server does', () => {
    const spec = {
      ...least,
      namespaceSelector: null,
      upscaleRateLimit: { batchSize: null, delayBetweenBatches: '5s' },
    };
    expect(readSchedule({ spec }).spec).toEqual(
      readSchedule({ spec: { ...least, upscaleRateLimit: { delayBetweenBatches: '5s' } } }).spec,
    );
  });

  it.each<[unknown, readonly string[]]>([
    [undefined, ['spec: missing: expected at least upscale, downscale and namespaces']],
    ['0 6 * * *', ['spec: "0 6 * * *": expected at least upscale, downscale and namespaces']],
    [
      { ...least, downscale: undefined },
      ['spec.downscale: missing: expected a cron pattern of five fields, such as "0 18 * * 1-5"'],
    ],
    [{ ...least, upscale: '' }, ['spec.upscale: "": expected a cron pattern of five fields, such as "0 6 * * 1-5"']],
    [
      { ...least, upscale: `0 6 * * ${'1,'.repeat(100)}` },
      [expect.stringMatching(/^spec\.upscale: "0 6.{70,}…: expected at most 200 characters$/)],
    ],
    [{ ...least, namespaces: 'team-a' }, ['spec.namespaces: "team-a": expected a list']],
    [
      { ...least, namespaces: ['team-a', 'Team B'] },
      ['spec.namespaces[1]: "Team B": expected the name of a namespace: lower-case letters, digits and dashes'],
    ],
    [{ ...least, suspend: 'yes' }, ['spec.suspend: "yes": expected true or false']],
    [{ ...least, downscaleReplicas: 1.5 }, ['spec.downscaleReplicas: 1.5: expected a whole number']],
    [{ ...least, downscaleReplicas: -1 }, ['spec.downscaleReplicas: -1: expected at least 0']],
    [{ ...least, upscaleRateLimit: { batchSize: 0 } }, ['spec.upscaleRateLimit.batchSize: 0: expected at least 1']],
    [{ ...least, upscaleRateLimit: 5 }, ['spec.upscaleRateLimit: 5: expected an object']],
    [
      { ...least, downscaleRateLimit: { delayBetweenBatches: '-5s' } },
      [expect.stringMatching(/^spec\.downscaleRateLimit\.delayBetweenBatches: "-5s": expected a duration such as/)],
    ],
    [
      { ...least, workloadTypes: ['Pod'] },
      ['spec.workloadTypes[0]: "Pod": expected one of Deployment, StatefulSet, CronJob, Rollout, ScaledJob'],
    ],
    [
      { ...least, exceptions: [{ from: '24.12.', state: 'Down' }, { from: '12-24' }] },
      [
        'spec.exceptions[0].from: "24.12.": expected a day, such as 2026-12-24, or 12-24 for every year',
        'spec.exceptions[1].state: missing: expected one of Up, Down',
      ],
    ],
    [
      { ...least, excludeLabels: { matchLabels: { 'example.com/team': 5 } } },
      ['spec.excludeLabels.matchLabels["example.com/team"]: 5: expected a text'],
    ],
    [{ ...least, timezone: 'Europe/Atlantis' }, [expect.stringMatching(/^spec\.timezone: .*Europe\/Atlantis/)]],
  ])('%j is rejected with where, what is there, and what would be right', (spec, problems) => {
    expect(problemsOf(spec)).toEqual(problems);
    expect(readSchedule({ spec }).spec).toBeNull();
  });

  it('is read from whatever there is, without an error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (definition, other) => {
        for (const object of [
          definition,
          { spec: definition, status: other },
          { spec: { ...least, exceptions: definition, timezone: other } },
        ]) {
          const { spec, problems, status } = readSchedule(object);
          expect(spec === null).toBe(problems.length > 0);
          expect(status).toEqual(expect.any(Object));
        }
      }),
    );
  });
});

describe('the status of a schedule', () => {
  const statusOf = (status: unknown) => readSchedule({ spec: least, status }).status;

  it('may be missing', () => {
    expect([statusOf(undefined), statusOf(null), statusOf('Up'), statusOf([])]).toEqual([{}, {}, {}, {}]);
  });

  it('is read also where the spec is wrong', () => {
    expect(readSchedule({ spec: {}, status: { state: 'Down' } }).status).toEqual({ state: 'Down' });
  });

  it('is read as far as it goes, where another tool wrote it', () => {
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: 'today', reason: 'Fine', message: '' };
    expect(
      statusOf({
        state: 'Asleep',
        nextUpscaleTime: '2026-11-23T06:00:00Z',
        observedGeneration: '1',
        namespaces: ['team-a', 5],
        workloadStats: { deploymentsManaged: 3, deploymentsScaled: -1, daemonSets: 4 },
        scalingProgress: { total: 3 },
        conditions: [{ type: 'Ready' }, condition],
        phase: 'Running',
      }),
    ).toEqual({
      nextUpscaleTime: '2026-11-23T06:00:00Z',
      namespaces: ['team-a'],
      workloadStats: { deploymentsManaged: 3 },
      conditions: [condition],
    });
  });
});
