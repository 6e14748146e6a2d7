/** `headroom lights-out`, as far as it needs neither a cluster nor Temporal: its arguments, its words, and files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { momentArgument, previewSpanArgument, spanArgument } from '../../../../starter/cli/lights-out/arguments.ts';
import { parseDuration } from '../../../../domain/kernel/duration.ts';
import { calendarText } from '../../../../starter/cli/lights-out/calendar-text.ts';
import { readManifest } from '../../../../starter/cli/lights-out/manifest.ts';
import { previewSchedules } from '../../../../starter/cli/lights-out/preview-report.ts';
import { previewText } from '../../../../starter/cli/lights-out/preview-text.ts';
import { scheduleTarget } from '../../../../starter/cli/lights-out/target.ts';
import { statusText } from '../../../../starter/cli/lights-out/status-text.ts';
import type { LightsOutStatus } from '../../../../workflows/lights-out/messages.ts';
import { headroom, type ProgramOutcome } from '../../run-program.ts';

const CLUSTER = { CLUSTER_NAME: 'test' };

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'lights-out-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

async function lightsOut(...args: string[]): Promise<ProgramOutcome> {
  return await headroom(['lights-out', ...args]);
}

const NIGHTS = `
apiVersion: lightsout.techsupport.mk/v1alpha1
kind: LightsOutSchedule
metadata: { name: berlin-nights }
spec:
  upscale: 0 7 * * 1-5
  downscale: 0 20 * * 1-5
  timezone: Europe/Berlin
  namespaces: [team-a]
  exceptions:
    - { from: 2026-04-03, to: 2026-04-06, state: Down, reason: Easter }
    - { from: 2026-03-28, state: Up, reason: stocktaking }
`;

const NEW_YORK = `
apiVersion: lightsout.techsupport.mk/v1alpha1
kind: LightsOutSchedule
metadata: { name: new-york }
spec:
  upscale: 30 2 * * *
  downscale: 0 20 * * *
  timezone: America/New_York
  namespaces: [team-b]
`;

const INVALID = `
apiVersion: lightsout.techsupport.mk/v1alpha1
kind: LightsOutSchedule
metadata: { name: wrong }
spec:
  upscale: 0 7 31 2 *
  downscale: 0 20 * * 1-5
  timezone: Europe/Berlyn
  namespaces: [team-c]
`;

describe.concurrent('headroom lights-out, called in a wrong way,', () => {
  it.each<[string[], string]>([
    [['wake', 'nights'], 'error: say for how long: --for 3h, or --until 2026-12-24T18:00:00+01:00'],
    [
      ['sleep', 'nights', '--for', '3h', '--until', '2026-12-24T18:00:00Z'],
      'error: --for and --until both say when it ends: leave one out',
    ],
    [['wake', 'nights', '--for', '3'], '"3" is no span of time: write 3h, 90m or 2d'],
    [['pause', 'nights', '--namespace', 'team-a'], "error: unknown option '--namespace'"],
  ])('says what is wrong with %j, and ends with 2', async (args, message) => {
    const { code, stdout, stderr } = await headroom(['lights-out', ...args], CLUSTER);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });

  it('shows what there is, with examples', async () => {
    const group = await lightsOut('--help');
    expect(group.code).toBe(0);
    for (const name of [
      'list',
      'status',
      'wake',
      'sleep',
      'cancel',
      'approve',
      'pause',
      'resume',
      'reconcile-now',
      'preview',
    ]) {
      expect(group.stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    }
    const wake = await lightsOut('wake', '--help');
    expect(wake.stdout).toContain('Examples:\n  headroom lights-out wake dev-nights --for 3h\n');
  });
});

describe('an argument', () => {
  it('is a moment only with its zone, on a day that there is', () => {
    expect(momentArgument('2026-12-24T18:00:00+01:00')).toBe(Date.UTC(2026, 11, 24, 17));
    expect(momentArgument('2026-12-24t17:00:00z')).toBe(Date.UTC(2026, 11, 24, 17));
    for (const text of ['2026-12-24T18:00:00', '2026-02-30T18:00:00Z', '2026-12-24T25:00:00Z', 'tomorrow', '']) {
      expect(() => momentArgument(text)).toThrow(`"${text}" is no moment: expected`);
    }
  });

  it('is a span only with a unit, longer than nothing', () => {
    expect(spanArgument('1h30m')).toBe('1h30m');
    expect(previewSpanArgument('14d')).toBe(14 * 86_400_000);
    expect(() => spanArgument('90')).toThrow('"90" is no span of time');
    expect(() => spanArgument('0m')).toThrow('"0m" is no time at all');
    expect(() => previewSpanArgument('3661d')).toThrow('"3661d" is more than ten years');
  });

  it('is a schedule only with a name that can be one', () => {
    const { isTarget } = scheduleTarget;
    expect(['dev.nights-2', '', 'dev nights', 'team-a/nights'].filter(isTarget)).toEqual(['dev.nights-2']);
  });
});

/** What `headroom lights-out preview --file` prints of a file, in a terminal of 100 columns. */
function shown(text: string, from: string, next: string, print = previewText): string {
  const begin = Date.parse(from);
  const { schedules, calendars } = readManifest(text, 'x.yaml');
  const span = { from: begin, until: begin + parseDuration(next) };
  return print(previewSchedules(schedules, span, { protectedNamespaces: [], calendars, location: 'x.yaml' }), {
    width: 100,
    colours: false,
  });
}

const HOLIDAYS = `
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: { name: holidays, labels: { lightsout.techsupport.mk/calendar: "" } }
    data:
      fixed.yaml: |
        - {from: 12-24, to: 12-26, reason: Christmas}
        - {from: 10-03, reason: Unity Day}
        - {from: 02-30, reason: never}
  - apiVersion: lightsout.techsupport.mk/v1alpha1
    kind: LightsOutSchedule
    metadata: { name: berlin }
    spec:
      upscale: "0 7 * * 1-5"
      downscale: "0 19 * * 1-5"
      timezone: Europe/Berlin
      namespaces: [dev]
      calendars: [holidays, bridge-days]
      exceptions: [{ from: 2027-02-06, state: Up, reason: release }]
`;

describe('a preview of exceptions and calendars', () => {
  it('has the days of a year with what each changes, and what is wrong with the calendars', () => {
    expect(shown(HOLIDAYS, '2026-11-26T12:00:00+01:00', '365d', calendarText)).toBe(`\
berlin: Thu 2026-11-26 to Fri 2027-11-26, Europe/Berlin
  DAYS                              STATE  WHY                   CHANGES
  Thu 2026-12-24 to Sat 2026-12-26  Down   Christmas (holidays)  down for 24 h more
  Sat 2027-02-06                    Up     release               up for 24 h more
  Sun 2027-10-03                    Down   Unity Day (holidays)  nothing: down by the patterns anyway

  down 5628 h of 8760 h, 64.2 %
  warning: there is no ConfigMap bridge-days with the label lightsout.techsupport.mk/calendar in
      x.yaml
  warning: ConfigMap holidays, fixed.yaml, entry 3: "02-30" is not a day: write one that exists, as
      2026-12-24, or as 12-24 for every year
`);
  });

  it('says where there are none', () => {
    expect(shown(NEW_YORK, '2026-03-07T12:00:00-05:00', '36h', calendarText)).toContain(
      'no exception and no calendar has a day in that time',
    );
  });
});

describe('a preview in words', () => {
  it('has the weeks in which the clocks of Berlin go forward, with exceptions and their reasons', () => {
    expect(shown(NIGHTS, '2026-03-27T12:00:00+01:00', '11d')).toBe(`\
berlin-nights: Up since Fri 2026-03-27 07:00 +01:00, Europe/Berlin
  LOCAL TIME                   UTC                   STATE    FOR  WHY
  Fri 2026-03-27 20:00 +01:00  2026-03-27T19:00:00Z  Down     4 h
  Sat 2026-03-28 00:00 +01:00  2026-03-27T23:00:00Z  Up      24 h  stocktaking
  Sun 2026-03-29 00:00 +01:00  2026-03-28T23:00:00Z  Down    30 h

  Sun 2026-03-29: clocks go forward at 02:00, to 03:00 (+01:00 -> +02:00)
  Mon 2026-03-30 07:00 +02:00  2026-03-30T05:00:00Z  Up      13 h
  Mon 2026-03-30 20:00 +02:00  2026-03-30T18:00:00Z  Down    11 h
  Tue 2026-03-31 07:00 +02:00  2026-03-31T05:00:00Z  Up      13 h
  Tue 2026-03-31 20:00 +02:00  2026-03-31T18:00:00Z  Down    11 h
  Wed 2026-04-01 07:00 +02:00  2026-04-01T05:00:00Z  Up      13 h
  Wed 2026-04-01 20:00 +02:00  2026-04-01T18:00:00Z  Down    11 h
  Thu 2026-04-02 07:00 +02:00  2026-04-02T05:00:00Z  Up      13 h
  Thu 2026-04-02 20:00 +02:00  2026-04-02T18:00:00Z  Down   107 h  Easter

  Tue 2026-04-07 07:00 +02:00  2026-04-07T05:00:00Z  Up      13 h

  down 174 h of 264 h, 65.9 %, up to Tue 2026-04-07 13:00 +02:00
`);
  });

  it('has the spring gap of New York, in which the hour of the cron is missing, and its autumn hour once', () => {
    expect(shown(NEW_YORK, '2026-03-07T12:00:00-05:00', '36h')).toBe(`\
new-york: Up since Sat 2026-03-07 02:30 -05:00, America/New_York
  LOCAL TIME                   UTC                   STATE         FOR  WHY
  Sat 2026-03-07 20:00 -05:00  2026-03-08T01:00:00Z  Down          6 h
  Sun 2026-03-08: clocks go forward at 02:00, to 03:00 (-05:00 -> -04:00)
  Sun 2026-03-08 03:00 -04:00  2026-03-08T07:00:00Z  Up           17 h
  Sun 2026-03-08 20:00 -04:00  2026-03-09T00:00:00Z  Down   6 h 30 min

  down 11 h of 36 h, 30.6 %, up to Mon 2026-03-09 01:00 -04:00
`);
    const autumn = NEW_YORK.replace('30 2 * * *', '30 1 * * *');
    const november = shown(autumn, '2026-10-31T12:00:00-04:00', '36h');
    expect(november.match(/^ {2}(?:Sat|Sun) .*$/gm)).toEqual([
      '  Sat 2026-10-31 20:00 -04:00  2026-11-01T00:00:00Z  Down    5 h 30 min',
      '  Sun 2026-11-01 01:30 -04:00  2026-11-01T05:30:00Z  Up     19 h 30 min',
      '  Sun 2026-11-01: clocks go back at 02:00, to 01:00 (-04:00 -> -05:00)',
      '  Sun 2026-11-01 20:00 -05:00  2026-11-02T01:00:00Z  Down    5 h 30 min',
    ]);
  });

  it('says an exception that changes nothing by itself, where it holds', () => {
    const text = shown(NIGHTS, '2026-04-03T09:00:00+02:00', '2d');
    expect(text).toBe(`\
berlin-nights: Down since Thu 2026-04-02 20:00 +02:00 (Easter), Europe/Berlin
  no change up to Sun 2026-04-05 09:00 +02:00
  down 48 h of 48 h, 100.0 %, up to Sun 2026-04-05 09:00 +02:00
  warning: spec.exceptions has one that is over: 2026-03-28
`);
  });

  it('warns of what is allowed and most likely not meant', () => {
    const twice = `${NIGHTS}---${NIGHTS.replace('berlin-nights', 'other').replace('spec:', 'spec:\n  suspend: true')}`;
    const text = shown(twice, '2026-03-27T12:00:00+01:00', '1d');
    expect(text).toContain('  warning: may want the same workloads as the schedule other');
    expect(text).toContain('  warning: it is suspended: nothing is put to sleep or woken\n');
  });

  it('ends where there are more changes than one preview shows, and says how to go on', () => {
    const restless = NIGHTS.replace('0 7 * * 1-5', '"* * * * *"').replace('0 20 * * 1-5', '"*/10 * * * *"');
    const text = shown(restless, '2026-04-07T00:00:00+02:00', '30d');
    expect(text.slice(-300)).toMatch(
      /^ {2}There are more changes than one preview shows: go on with --from 2026-04-1\dT/m,
    );
    // Nine minutes of ten are up.
    expect(text.slice(-300)).toMatch(/^ {2}down .* 10\.0 %, up to Sun 2026-04-19 /m);
  });
});

describe.concurrent('headroom lights-out preview --file', () => {
  it('lists what is wrong with one of several, shows the others all the same, and ends with 1', async () => {
    const other = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: berlin-nights }\n';
    const text = `${NIGHTS}---${INVALID}${other}---${NEW_YORK}`;
    const { code, stdout } = await lightsOut('preview', '--file', file('three.yaml', text), '--next', '2d');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^berlin-nights: (?:Up|Down) since .*Europe\/Berlin$/m);
    expect(stdout).toMatch(/^new-york: (?:Up|Down) since .*America\/New_York$/m);
    const wrong = stdout.slice(stdout.indexOf('wrong: invalid'));
    expect(wrong).toMatch(/^ {2}spec\.upscale: /m);
    expect(wrong).toMatch(/^ {2}spec\.timezone: .*Europe\/Berlyn/m);
  });

  it('is one schedule of the file where it is named, as JSON', async () => {
    const path = file('two.yaml', `${NIGHTS}---${NEW_YORK}`);
    const span = ['--from', '2026-11-20T12:00:00-05:00', '--next', '24h'];
    const { code, stdout } = await lightsOut('preview', 'new-york', '--file', path, '--output', 'json', ...span);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        schedule: 'new-york',
        timezone: 'America/New_York',
        state: 'Up',
        since: '2026-11-20T07:30:00Z',
        transitions: [
          { at: '2026-11-21T01:00:00Z', local: '2026-11-20T20:00:00-05:00', state: 'Down', exception: null },
          { at: '2026-11-21T07:30:00Z', local: '2026-11-21T02:30:00-05:00', state: 'Up', exception: null },
        ],
        days: [],
        downShare: 0.2708,
        problems: [],
        warnings: [],
      },
    ]);
    expect(await lightsOut('preview', 'new-yorck', '--file', path)).toEqual({
      code: 2,
      stdout: '',
      stderr: `there is no LightsOutSchedule "new-yorck" in ${path}: did you mean new-york?\n`,
    });
  });

  it('reads standard input, and says what it cannot read', async () => {
    const { stdout } = await withInput(`${NEW_YORK}---\nkind: [\n`, ['preview', '--file', '-', '--next', '1d']);
    expect(stdout).toMatch(/^new-york: /);
    expect(await withInput('kind: ConfigMap\n', ['preview', '--file', '-'])).toMatchObject({
      code: 2,
      stderr: 'standard input has no LightsOutSchedule\n',
    });
    expect(await lightsOut('preview', '--file', join(dir, 'nowhere.yaml'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nowhere\.yaml cannot be read: ENOENT[^\n]*\n$/),
    });
  });
});

async function withInput(input: string, args: readonly string[]): Promise<ProgramOutcome> {
  return await headroom(['lights-out', ...args], {}, input);
}

describe('the schedules of a file', () => {
  it('are those of every document and list', () => {
    const list = `kind: List\napiVersion: v1\nitems:\n  - { kind: ConfigMap }\n  - { kind: LightsOutSchedule, metadata: { name: b } }\n`;
    const { schedules, unreadable } = readManifest(`${NIGHTS}---\n---\n${list}`, 'x.yaml');
    expect(schedules.map(({ object, problems }) => [object.metadata?.name, problems])).toEqual([
      ['berlin-nights', []],
      ['b', [{ field: 'apiVersion', message: 'expected lightsout.techsupport.mk/v1alpha1' }]],
    ]);
    expect(unreadable).toEqual([]);
  });

  it('need a name', () => {
    const { schedules } = readManifest(NIGHTS.replace(/^metadata.*$/m, ''), 'x.yaml');
    expect(schedules[0]?.problems).toEqual([
      { field: 'metadata.name', message: 'expected a name, such as dev-nights' },
    ]);
  });

  it('are those that can be read, with the line of what cannot', () => {
    const { schedules, unreadable } = readManifest(`${NIGHTS}---\nkind: A\nkind: B\n`, 'x.yaml');
    expect(schedules).toHaveLength(1);
    expect(unreadable).toEqual(['x.yaml:15: Map keys must be unique']);
  });
});

describe('the status of a schedule in words', () => {
  const quiet: LightsOutStatus = {
    target: { cluster: 'prod', schedule: 'dev-nights' },
    phase: 'Down',
    reason: 'AsScheduled',
    detail: '12 workloads are down',
    since: '2026-11-20T19:00:00Z',
    facts: [],
    state: 'Down',
    nextUpscale: '2026-11-23T06:00:00Z',
    nextDownscale: '2026-11-23T19:00:00Z',
    overrides: [],
    progress: null,
    failing: [],
    savedReplicaHours: '130.5',
    paused: null,
    lastCommand: null,
  };
  const now = Date.parse('2026-11-22T20:00:00Z');

  it('is where it stands and what comes next', () => {
    expect(statusText(quiet, now)).toBe(`dev-nights: Down (AsScheduled) since 2026-11-20T19:00:00Z (2 d 1 h ago)
12 workloads are down.
  The schedule says Down.
  Next: Up at 2026-11-23T06:00:00Z (in 10 h), then Down at 2026-11-23T19:00:00Z (in 23 h).
  Every workload, and why: headroom lights-out preview dev-nights --workloads
  Saved so far: 130.5 replica-hours`);
  });

  it('is everything that people did to it, and what fails', () => {
    const text = statusText(
      {
        ...quiet,
        detail: 'see [the runbook](https://example.com)',
        facts: ['Deployment team-a/web is left up'],
        overrides: [
          { kind: 'wake', namespace: 'team-a', until: '2026-11-22T23:00:00Z', by: 'alice', reason: 'release' },
          { kind: 'sleep', namespace: null, until: '2026-11-22T19:58:00Z', by: 'bob', reason: '' },
        ],
        progress: { total: 40, completed: 12, failed: 1 },
        failing: [{ workload: 'Deployment team-a/db', message: 'forbidden' }],
        paused: { by: 'carol', reason: 'upgrade', at: '2026-11-22T18:00:00Z' },
        lastCommand: '2026-11-22T18:00:00Z pause: paused by carol',
      },
      now,
    );
    for (const line of [
      'See the runbook.',
      '  Deployment team-a/web is left up',
      '  Awake in team-a until 2026-11-22T23:00:00Z (in 3 h), by alice: release',
      '  Asleep until 2026-11-22T19:58:00Z (2 min ago), by bob',
      '  Under way: 12 of 40 done, 1 failed',
      '  Fails: Deployment team-a/db: forbidden',
      '  Last command: 2026-11-22T18:00:00Z (2 h ago) pause: paused by carol',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('has no timetable where the schedule is invalid', () => {
    const text = statusText({ ...quiet, state: null, nextUpscale: null, nextDownscale: null }, now);
    expect(text).not.toContain('The schedule says');
    expect(text).not.toContain('Next:');
  });
});
