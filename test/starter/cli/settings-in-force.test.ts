import { describe, expect, it } from 'vitest';
import { loadConfig as loadWorkerConfig } from '../../../platform/config/config.ts';
import { release } from '../../../platform/process/release.ts';
import { controllerSettings } from '../../../domain/registry.ts';
import type { WorkerReports, WorkerReport } from '../../../platform/temporal/worker-reports.ts';
import { fromOfProcess, fromText } from '../../../starter/cli/quota-resize/explain/layers.ts';
import { settingsInForce, type SettingsInForce } from '../../../starter/cli/settings-in-force.ts';
import { loadConfig } from '../../../starter/config.ts';

const SECRETS = { GITHUB_TOKEN: 'ghp_hidden', TEMPORAL_API_KEY: 'key_hidden' };
const GITHUB = { GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops', ...SECRETS };

/** What a worker with this environment and these flags reports. */
function report(
  worker: string,
  env: Readonly<Record<string, string>> = {},
  argv: readonly string[] = [],
  more: Partial<WorkerReport> = {},
): WorkerReport {
  const config = loadWorkerConfig(controllerSettings, {
    env: { CLUSTER_NAME: 'prod', ...GITHUB, ...env },
    argv,
    program: 'worker',
  });
  const settings = new Map(
    [...config.reported].map(([path, value]) => [path, { ...value, reportedBy: 'worker' as const }]),
  );
  return { worker, release, since: '2026-11-22T08:00:00.000Z', pairs: null, settings, ...more };
}

function inForce(
  reports: WorkerReports | string,
  env: Readonly<Record<string, string>> = {},
  argv: readonly string[] = [],
): SettingsInForce {
  const sources = { env: { CLUSTER_NAME: 'prod', ...env }, argv, program: 'command line' as const };
  const answer = typeof reports === 'string' ? { unknown: reports } : { reports };
  return settingsInForce(loadConfig(sources), sources, answer);
}

const proposing = report('a', { HEADROOM_MODE: 'propose', THRESHOLD: '70' }, ['--enable-auto-merge']);

describe('beside a worker that runs', () => {
  const { config, settings } = inForce({ reports: [proposing], running: ['a'] }, { THRESHOLD: '95', INCREMENT: '40' });

  it('its settings hold, and neither the environment nor the defaults of the command', () => {
    expect(config.resize).toMatchObject({ mode: 'propose', autoMerge: true, threshold: '70', increment: '20' });
    expect(config.gitOps.repositories).toEqual([expect.objectContaining({ owner: 'acme', repo: 'gitops' })]);
  });

  it('each value says that it is the worker’s, and where the worker has it from', () => {
    const from = (path: string): string => fromText(fromOfProcess(path, config));
    expect(from('resize.mode')).toBe('worker: environment HEADROOM_MODE');
    expect(from('resize.autoMerge')).toBe('worker: flag --enable-auto-merge');
    expect(from('resize.increment')).toBe('worker: built-in default');
  });

  it('the worker is named, and nothing is held against the answer', () => {
    expect(settings).toEqual({
      from: 'running worker',
      worker: { name: 'a', release, since: '2026-11-22T08:00:00.000Z' },
      notes: ['The settings are those of the worker a, which has run since 2026-11-22T08:00:00.000Z.'],
      differences: [],
    });
  });

  it('a flag of the command holds above it: that is the question what another setting would do', () => {
    const asked = inForce({ reports: [proposing], running: ['a'] }, {}, ['--threshold', '60']).config;
    expect(asked.resize.threshold).toBe('60');
    expect(fromText(fromOfProcess('resize.threshold', asked))).toBe('flag --threshold');
  });
});

describe('workers that do not agree', () => {
  it('are both named, with what differs', () => {
    const observing = report('b', {}, [], { since: '2026-11-22T07:00:00.000Z' });
    const { config, settings } = inForce({ reports: [proposing, observing], running: ['b', 'a'] });
    expect(config.resize.mode).toBe('propose');
    expect(settings.worker?.name).toBe('a');
    expect(settings.differences).toEqual([
      'The worker b runs with other settings: resize.mode is "observe" there and "propose" here, resize.threshold is "80" there and "70" here, resize.autoMerge is "false" there and "true" here. Either kind of worker may decide about the next step; one that has ended is named for two minutes.',
    ]);
  });

  it('a worker that has stopped is no disagreement, though it reported last', () => {
    const stopped = report('b', {}, [], { since: '2026-11-22T09:00:00.000Z' });
    const { config, settings } = inForce({ reports: [stopped, proposing], running: ['a'] });
    expect(config.resize.mode).toBe('propose');
    expect(settings).toMatchObject({ from: 'running worker', differences: [] });
  });

  it('a worker that runs and never reported is named', () => {
    const { settings } = inForce({ reports: [proposing], running: ['a', 'old'] });
    expect(settings.notes).toContain(
      'The worker old runs and has not reported its settings. It has just started, or it is of an earlier release.',
    );
  });
});

describe('where no worker runs', () => {
  it('the settings of the last one hold, and that is said', () => {
    const { config, settings } = inForce({ reports: [proposing], running: [] });
    expect(config.resize.mode).toBe('propose');
    expect(settings.from).toBe('last worker');
    expect(settings.notes).toEqual([
      'No worker runs now.',
      'The settings are those of the worker a, which was the last one to report, at 2026-11-22T08:00:00.000Z.',
    ]);
  });

  it('and none ever reported, the command answers by its own settings and says so', () => {
    const { config, settings } = inForce({ reports: [], running: [] }, { HEADROOM_MODE: 'propose' });
    expect(config.resize.mode).toBe('propose');
    expect(settings).toMatchObject({ from: 'command line', worker: null });
    expect(settings.notes).toEqual([
      'No worker of prod has reported its settings.',
      'This answer goes by the settings of the command line.',
    ]);
  });

  it('so it does where Temporal cannot be asked, with the reason', () => {
    const { settings } = inForce('Temporal cannot be reached at localhost:7233: refused.');
    expect(settings.from).toBe('command line');
    expect(settings.notes[0]).toBe(
      'The settings of the workers are not known: Temporal cannot be reached at localhost:7233: refused.',
    );
  });
});

describe('a worker of another release', () => {
  const newer = report('a', { THRESHOLD: '70' }, [], { release: '9.0.0' });
  const strange = new Map(newer.settings)
    .set('resize.mode', { text: 'auto', where: '--mode', layer: 'command line', reportedBy: 'worker' })
    .set('resize.speed', { text: 'fast', where: '--speed', layer: 'command line', reportedBy: 'worker' });

  it('may have values and settings that the command does not know: each is a sentence, and the others hold', () => {
    const { config, settings } = inForce({ reports: [{ ...newer, settings: strange }], running: ['a'] });
    expect(config.resize).toMatchObject({ mode: 'observe', threshold: '70' });
    expect(settings.notes).toEqual([
      'The settings are those of the worker a, which has run since 2026-11-22T08:00:00.000Z.',
      `The worker is of release 9.0.0, and this command of release ${release}.`,
      'The worker\'s value "auto" of resize.mode is not understood by this command, because the worker is of release 9.0.0. This answer goes by the default.',
      'The worker has a setting resize.speed, which this command does not know. It is left out.',
    ]);
  });

  it('may have another default, which is the one that holds', () => {
    const settings = new Map(newer.settings).set('resize.increment', {
      text: '33',
      where: 'resize.increment',
      layer: 'default',
      reportedBy: 'worker',
    });
    const { config } = inForce({ reports: [{ ...newer, settings }], running: ['a'] });
    expect(config.resize.increment).toBe('33');
  });
});

describe('what a worker reports', () => {
  it('is no secret, and names no file that has one', () => {
    const reported = JSON.stringify([...proposing.settings]);
    expect(reported).not.toContain('hidden');
    const paths = [...proposing.settings.keys()];
    // A span of time is none, whatever it is for.
    const others = paths.filter((path) => !path.startsWith('timings.'));
    expect(others.filter((path) => /token|key|secret|file|kubeconfig|certificate|password/i.test(path))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        'resize.mode',
        'resize.autoMerge',
        'github.owner',
        'quotaUsage.mode',
        'timings.syncOverdue',
      ]),
    );
  });

  it('has no setting that is marked as a secret, whatever a definition names', () => {
    const everything = Object.fromEntries(
      Object.entries(controllerSettings).map(([name, settings]) => [
        name,
        { ...settings, reported: Object.keys(settings.groups) },
      ]),
    );
    const { reported } = loadWorkerConfig(everything, {
      env: { CLUSTER_NAME: 'prod', ...GITHUB, ...SECRETS },
      argv: [],
      program: 'worker',
    });
    expect(reported.has('github.repo')).toBe(true);
    expect(reported.has('github.token')).toBe(false);
  });
});
