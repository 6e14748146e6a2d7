/** What the chart gives Prometheus and Grafana: when it does, and that promtool takes the rules, and each alert fires when it should and not otherwise. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { resolvePackage } from '../../tools/resolver/debian-package.ts';
import type { RuleGroup } from '../../tools/monitoring/rules.ts';
import { type Manifest, rendered } from '../deploy/rendered.ts';
import { EVERYTHING } from '../kernel/stack/chart.ts';
import { ALERT_CASES, type AlertCase, type Series } from './alert-cases.ts';

const run = promisify(execFile);
const ON = {
  monitoring: {
    podMonitor: { enabled: true, labels: { release: 'stack' }, interval: '30s' },
    rules: { enabled: true, documents: 'https://git.example.com/headroom/' },
    dashboards: { enabled: true },
  },
};

let dir: string;
let promtool: string;
let objects: readonly Manifest[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rules-'));
  promtool = await resolvePackage('promtool');
  objects = await rendered({ ...EVERYTHING, ...ON });
});
afterAll(async () => await rm(dir, { recursive: true, force: true }));

const ofKind = (kind: string, all = objects) => all.filter((object) => object.kind === kind);

function groupsOf(all: readonly Manifest[]): readonly RuleGroup[] {
  return ofKind('PrometheusRule', all).flatMap((object) => {
    const { groups } = object['spec'] as { readonly groups: readonly RuleGroup[] };
    return groups;
  });
}

describe('the chart', () => {
  it('has nothing of it by default, so that it needs no definitions of others', async () => {
    const kinds = new Set((await rendered(EVERYTHING)).map(({ kind }) => kind));
    expect([kinds.has('PodMonitor'), kinds.has('PrometheusRule')]).toEqual([false, false]);
    expect(JSON.stringify(await rendered(EVERYTHING))).not.toContain('grafana_dashboard');
  });

  it('has one PodMonitor, for every pod of Headroom, which keeps the namespace of a metric', () => {
    const [monitor, ...others] = ofKind('PodMonitor');
    expect(others).toEqual([]);
    expect(monitor?.metadata['labels']).toMatchObject({ release: 'stack' });
    if (monitor === undefined) throw new Error('there is no PodMonitor');
    const { selector, podMetricsEndpoints } = monitor['spec'] as {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly podMetricsEndpoints: readonly object[];
    };
    expect(podMetricsEndpoints).toEqual([{ port: 'metrics', honorLabels: true, interval: '30s' }]);
    const pods = ofKind('Deployment').map(
      (deployment) =>
        (deployment['spec'] as { readonly template: { readonly metadata: { readonly labels: object } } }).template
          .metadata.labels,
    );
    expect(pods.length).toBeGreaterThan(0);
    for (const labels of pods) expect(labels).toMatchObject(selector.matchLabels);
  });

  it('has the rules and dashboards of what is switched on, and no others', async () => {
    const names = (all: readonly Manifest[]) => ({
      groups: groupsOf(all).map(({ name }) => name),
      dashboards: ofKind('ConfigMap', all)
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('headroom-dashboard-')),
    });
    const always = ['overview', 'quota-resize', 'github-budget'];
    const all = [...always, 'quota-usage', 'lights-out', 'memcached', 'node-group'];
    const expected = (sections: readonly string[]) => ({
      groups: sections.map((name) => `headroom-${name}`),
      dashboards: sections.map((name) => `headroom-dashboard-${name}`),
    });
    expect(names(objects)).toEqual(expected(all));
    expect(names(await rendered(ON))).toEqual(expected(always));
  });

  it('has a dashboard of Grafana in each ConfigMap, with the label that the sidecar looks for', () => {
    const maps = ofKind('ConfigMap').filter(({ metadata }) => metadata.name.startsWith('headroom-dashboard-'));
    const uids = maps.map(({ metadata, ...object }) => {
      expect(metadata['labels']).toMatchObject({ grafana_dashboard: '1' });
      const [[file, text] = ['', '']] = Object.entries(object['data'] as Readonly<Record<string, string>>);
      const dashboard = JSON.parse(text) as { readonly uid: string; readonly panels: readonly object[] };
      expect(dashboard.panels.length).toBeGreaterThan(1);
      return [file, `${dashboard.uid}.json`];
    });
    for (const [file, uid] of uids) expect(file).toBe(uid);
    expect(new Set(uids.map(([file]) => file)).size).toBe(maps.length);
  });

  it('links each alert to where the documents are', () => {
    const links = groupsOf(objects).flatMap(({ rules }) => rules.map(({ annotations }) => annotations['runbook_url']));
    expect(links.length).toBeGreaterThan(20);
    for (const link of links)
      expect(link).toMatch(/^https:\/\/git\.example\.com\/headroom\/docs\/(?:operations\/)?[\w-]+\.md#[\w-]+$/);
  });
});

describe('the rules', () => {
  it('are what promtool takes', async () => {
    const { stdout } = await run(promtool, ['check', 'rules', await rulesFile()]);
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('have a case for each alert, and none for another', () => {
    const names = groupsOf(objects).flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(names.toSorted());
  });

  it('fire for what they are about, and not for what is next to it', async () => {
    await rulesFile();
    const tests = Object.entries(ALERT_CASES).flatMap(([name, alertCase]) => [
      unitTest(`${name} fires`, name, alertCase, alertCase.series, [expectedAlert(name, alertCase)]),
      unitTest(`${name} does not`, name, alertCase, alertCase.quiet, []),
    ]);
    const file = join(dir, 'tests.yaml');
    await writeFile(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    const { stdout } = await run(promtool, ['test', 'rules', file]).catch(
      (error: { stdout?: string; stderr?: string }) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      },
    );
    expect(stdout).toContain('SUCCESS');
  });
});

async function rulesFile(): Promise<string> {
  const file = join(dir, 'rules.yaml');
  await writeFile(file, stringify({ groups: groupsOf(objects) }));
  return file;
}

function unitTest(
  name: string,
  alertname: string,
  { at }: AlertCase,
  series: Series,
  expected: readonly object[],
): object {
  return {
    name,
    interval: '1m',
    input_series: Object.entries(series).map(([labels, values]) => ({ series: labels, values })),
    alert_rule_test: [{ eval_time: at, alertname, exp_alerts: expected }],
  };
}

/** With the sentence that people get. */
function expectedAlert(name: string, { fires, value = '' }: AlertCase): object {
  const rule = groupsOf(objects)
    .flatMap(({ rules }) => rules)
    .find(({ alert }) => alert === name);
  const labels: Readonly<Record<string, string>> = { ...rule?.labels, ...fires };
  const annotations = Object.entries(rule?.annotations ?? {}).map(([key, text]) => [
    key,
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
      .replaceAll('{{ $value }}', value),
  ]);
  return { exp_labels: labels, exp_annotations: Object.fromEntries(annotations) as Readonly<Record<string, string>> };
}
