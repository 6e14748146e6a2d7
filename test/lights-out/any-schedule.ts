/** LightsOutSchedules as anybody may write them: what is right, and what is wrong by itself or beside something else. */
import * as fc from 'fast-check';
import { SLEEP_UNTIL, TAKES_OVER, WAKE_UNTIL, workloadTypes } from '../../domain/lights-out/schedule/names.ts';
import { mostly } from '../kernel/drawn.ts';

/** What people write is of these types, and of no others: that is the definition's matter. */
export interface WrittenSchedule {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>> & { readonly namespaces?: readonly string[] };
}

/** Stands for the namespace of the workloads, whose name is another one in each lane. */
export const OWN = 'own';

const anyName = mostly(
  fc.oneof(
    fc.constantFrom('nights', 'a', '1st', 'eu-1.web', 'a.b.c', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(253)),
    // A dot or a dash wherever a name is cut.
    fc.integer({ min: 30, max: 60 }).map((at) => `${'x'.repeat(at)}.${'y'.repeat(120)}.${'z'.repeat(60)}`),
    fc.integer({ min: 30, max: 60 }).map((at) => `${'x'.repeat(at)}-${'y'.repeat(180)}`),
    fc.constant(Array.from({ length: 127 }, () => 'a').join('.')),
  ),
  'Nights',
  'x'.repeat(254),
);

const minute = fc.constantFrom('0', '*/5', '59', '0,30', '7/20');
const hour = fc.constantFrom('0', '2', '6', '*', '20-23', '*/6', '9-17/2');
const anyDay = fc.constantFrom('*', '*', '1', '15', '29-31', '?');
const month = fc.constantFrom('*', '*', '2', 'JAN-MAR', '*/3');
const weekday = fc.constantFrom('*', '*', '1-5', 'SAT,SUN', '?');
const cron = mostly(
  fc.tuple(minute, hour, anyDay, month, weekday).map((fields) => fields.join(' ')),
  '0 6 30 2 *',
  '@daily',
  'CRON_TZ=UTC 0 6 * * *',
  '0 6 * *',
);

const label = fc.constantFrom('team', 'example.com/tier', '');
const selector = mostly<object>(
  fc.oneof(
    fc.dictionary(label, fc.constantFrom('a', 'b', ''), { maxKeys: 2 }).map((matchLabels) => ({ matchLabels })),
    fc.constantFrom<object>(
      {},
      { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] },
      { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['b', 'not a value'] }] },
      { matchExpressions: [{ key: 'example.com/tier', operator: 'DoesNotExist' }] },
    ),
  ),
  { matchExpressions: [{ key: 'team', operator: 'In' }] },
);

const span = mostly<string>(fc.constantFrom('0', '30s', '10m', '1h30m', '24h', '500ms'), '200h', '1d', 'soon');
const rateLimit = fc.record(
  { batchSize: mostly(fc.constantFrom<number>(1, 3, 1_000_000), 0), delayBetweenBatches: span },
  { requiredKeys: [] },
);
const replicas = mostly(fc.constantFrom<number>(0, 1, 2, 10_000), -1, 10_001);
const window = mostly<object>(
  fc.oneof(
    fc.record({ upscale: cron, downscale: cron, replicas }),
    fc.record({ upscale: cron, downscale: cron, percent: mostly(fc.constantFrom<number>(0, 1, 50, 99, 100), 101) }),
  ),
  { upscale: '0 6 * * *', downscale: '0 20 * * *' },
  { upscale: '0 6 * * *', downscale: '0 20 * * *', replicas: 1, percent: 50 },
);
const day = mostly<string>(
  fc.constantFrom('2026-12-24', '9999-12-31', '1970-01-01', '12-24', '02-29', '01-01'),
  '02-30',
  '2026-02-29',
  '0000-01-01',
  'tomorrow',
);
const exception = mostly<object>(
  fc.oneof(
    fc.record({ from: day, state: fc.constantFrom('Up', 'Down') }),
    fc.record({ from: fc.constant('12-24'), to: fc.constant('01-02'), state: fc.constantFrom('Up', 'Down') }),
    fc.record({
      from: fc.constantFrom('1970-01-01', '2026-12-01'),
      to: fc.constantFrom('9999-12-31', '2100-01-01'),
      state: fc.constantFrom('Up', 'Down'),
      reason: fc.constantFrom('', 'ü'.repeat(200)),
    }),
  ),
  { from: '2026-12-24', to: '12-26', state: 'Up' },
  { from: '2026-12-24', to: '2026-12-20', state: 'Up' },
);
const priority = fc.record({ priority: mostly(fc.constantFrom<number>(0, -1, 1_000_000), 1_000_001), selector });

/** An empty selector without its confirmation, and no scope at all, are refused. */
const scope = mostly<object>(
  fc.oneof(
    fc.constant({ namespaces: [OWN] }),
    fc.constant({ namespaceSelector: {}, allNamespaces: true }),
    fc.record({ namespaceSelector: selector, allNamespaces: fc.constant(true) }),
    fc.record({ namespaceSelector: selector, namespaces: fc.constant([OWN, 'elsewhere']) }),
  ),
  { namespaceSelector: {} },
  {},
);

const optional = fc.record(
  {
    timezone: mostly<string>(fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Kiritimati', ''), 'Mars/Base'),
    excludeNamespaces: mostly<readonly string[]>(fc.constantFrom([], ['elsewhere']), [OWN]),
    suspend: mostly<boolean>(fc.constant(false), true),
    workloadTypes: mostly<readonly string[]>(fc.subarray([...workloadTypes]), ['DaemonSet']),
    excludeLabels: selector,
    upscaleRateLimit: rateLimit,
    downscaleRateLimit: rateLimit,
    downscaleReplicas: replicas,
    windows: fc.array(window, { maxLength: 3 }),
    exceptions: fc.array(exception, { maxLength: 2 }),
    calendars: mostly<readonly string[]>(fc.constantFrom([], ['holidays']), ['Not A Name']),
    priorities: fc.array(priority, { maxLength: 2 }),
    readinessTimeout: span,
    newWorkloadGrace: span,
    prewarm: span,
    cronJobs: fc.record({ catchUp: mostly<string>(fc.constantFrom('last', 'none'), 'all') }),
    ownTimes: mostly<string>(fc.constantFrom('any', 'wakeLonger', 'sleepLonger', 'ignore'), 'some'),
    controllerOwned: mostly<string>(fc.constantFrom('skip', 'scale'), 'all'),
    dryRun: mostly<boolean>(fc.constant(false), true),
    requireApproval: mostly<boolean>(fc.constant(false), true),
  },
  { requiredKeys: [] },
);

/** Moments at the ends of what RFC 3339 can say as well. */
export const anyMoment = mostly<string>(
  fc.constantFrom(
    '2020-01-01T00:00:00Z',
    '2026-12-01T10:00:00.5+02:00',
    '2027-03-01t00:00:00z',
    '9999-12-31T23:59:59-23:59',
    '0000-01-01T00:00:00+23:59',
  ),
  'tomorrow',
  '',
);

export const anySchedule: fc.Arbitrary<WrittenSchedule> = fc.record({
  name: anyName,
  annotations: fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.record(
        {
          [WAKE_UNTIL]: anyMoment,
          [SLEEP_UNTIL]: anyMoment,
          [TAKES_OVER]: fc.constantFrom('gone', '', 'Not A Name'),
        },
        { requiredKeys: [] },
      ),
    },
  ) as fc.Arbitrary<Record<string, string>>,
  spec: fc
    .tuple(fc.record({ upscale: cron, downscale: cron }), scope, optional)
    .map(([crons, where, rest]) => ({ ...crons, ...where, ...rest })),
});
