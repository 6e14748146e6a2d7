/** Nothing is measured that nobody sees, and nothing is shown or alerted on that nobody measures. */
import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLUSTER_LABEL, type Metric } from '../../domain/kernel/monitoring/metric.ts';
import type { Monitoring } from '../../domain/kernel/monitoring/monitoring.ts';
import { forDashboard, forRule } from '../../domain/kernel/monitoring/query.ts';
import { sharedMonitoring } from '../../domain/kernel/monitoring/shared-monitoring.ts';
import { type AwaitedIn, PERSON } from '../../domain/kernel/awaited.ts';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { budgetAwaits } from '../../domain/github-budget/awaited.ts';
import { lightsOutAwaits } from '../../domain/lights-out/awaited.ts';
import { memcachedAwaits } from '../../domain/memcached/awaited.ts';
import { drainAwaits, nodeGroupAwaits } from '../../domain/node-group/awaited.ts';
import { resizeAwaits } from '../../domain/quota-resize/awaited.ts';
import { usageAwaits } from '../../domain/quota-usage/awaited.ts';
import { controllerMonitoring } from '../../domain/registry.ts';
import { metricsPage, operationsPages } from '../../tools/monitoring/page.ts';
import { sections } from '../../tools/monitoring/sections.ts';
import { leadsSomewhere, read, ROOT } from '../docs/reading.ts';
import { readQuery } from './promql.ts';

const every = [sharedMonitoring, ...Object.values(controllerMonitoring)];
const metrics = new Map(every.flatMap((one) => Object.values(one.metrics).map((metric) => [metric.name, metric])));
const panels = every.flatMap((one) => one.panels);
const alerts = every.flatMap((one) => one.alerts);
const queries = panels.flatMap(({ title, queries: own }) => own.map((query) => ({ title, ...query })));

/** The metric that a selector is about; a histogram has three kinds of series. */
function metricOf(series: string): Metric | undefined {
  const histogram = metrics.get(series.replace(/_(?:bucket|sum|count)$/, ''));
  return histogram?.type === 'histogram' ? histogram : metrics.get(series);
}

/** By its own labels, or by which series of it are Headroom's. */
function hasLabel(metric: Metric | undefined, label: string): boolean {
  return metric?.labels.includes(label) === true || metric?.where?.startsWith(`${label}=`) === true;
}

/** What is wrong with a query: a metric that there is not, or a label that it does not have. */
function problemsOf(expr: string): readonly string[] {
  const { selectors, grouping } = readQuery(expr);
  // The first two Prometheus gives to everything that it scrapes.
  const known = new Set([
    'job',
    'instance',
    CLUSTER_LABEL,
    'le',
    ...selectors.flatMap(({ metric }) => metricOf(metric)?.labels ?? []),
  ]);
  return [
    ...selectors.filter(({ metric }) => metricOf(metric) === undefined).map(({ metric }) => `no metric ${metric}`),
    ...selectors.flatMap(({ metric, labels }) =>
      labels
        .filter((label) => label !== CLUSTER_LABEL && !hasLabel(metricOf(metric), label))
        .map((label) => `${metric} has no label ${label}`),
    ),
    ...grouping.filter((label) => !known.has(label)).map((label) => `nothing has the label ${label}`),
  ];
}

describe('what is measured', () => {
  it('is shown by a panel, each metric', () => {
    const shown = new Set(
      queries.flatMap(({ expr }) =>
        readQuery(forDashboard(expr)).selectors.map(({ metric }) => metricOf(metric)?.name),
      ),
    );
    expect([...metrics.keys()].filter((name) => !shown.has(name))).toEqual([]);
  });

  it('has a name of its own, as Prometheus wants names, and a sentence', () => {
    const all = every.flatMap((one) => Object.values(one.metrics));
    expect(all.map(({ name }) => name)).toHaveLength(metrics.size);
    for (const { name, type, help } of all) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(help).toMatch(/^[A-Z][^\n|]*\.$/);
    }
  });

  it('is made from its definition, and nowhere else', () => {
    const makers =
      /new (?:Gauge|Counter|Histogram|Summary)\b|\bcreate(?:Counter|Gauge|Histogram)\((?!regist(?:er|ry)\b|metrics?,)/;
    const own = ['starter/kernel/metrics.ts', 'activities/kernel/metrics.ts', 'workflows/kernel/metrics.ts'];
    const sources = globSync('{starter,worker,activities,workflows,platform}/**/*.ts', { cwd: ROOT });
    expect(sources.filter((file) => makers.test(read(file))).toSorted()).toEqual(own.toSorted());
    // Each definition is used: by its key, or where a table of all is gone through.
    const texts = sources.map(read).join('\n');
    const unused = every.flatMap((one) =>
      Object.entries(one.metrics)
        .filter(([key, { isForeign }]) => isForeign !== true && !new RegExp(`\\b${key}\\b`).test(texts))
        .map(([, { name }]) => name),
    );
    expect(unused).toEqual([]);
  });
});

describe('what is shown', () => {
  it.each(queries)('in "$title" is PromQL about metrics and labels that there are: $legend', ({ expr, legend }) => {
    expect(problemsOf(forDashboard(expr))).toEqual([]);
    const { grouping } = readQuery(forDashboard(expr));
    const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    expect(named.filter((label) => !grouping.includes(label ?? ''))).toEqual([]);
  });

  it('is of the clusters that are looked at, in every selector', () => {
    for (const { expr } of queries) {
      const { selectors } = readQuery(forDashboard(expr));
      expect(selectors.filter(({ labels }) => !labels.includes(CLUSTER_LABEL))).toEqual([]);
    }
  });

  it('has a title of its own on its dashboard, a sentence, and is on the overview or on that of its controller', () => {
    for (const { monitoring } of sections) {
      const titles = monitoring.panels.map(({ title }) => title);
      expect(titles).toEqual([...new Set(titles)]);
      for (const { about } of monitoring.panels) expect(about).toMatch(/[.:][^.]*\.?$/);
    }
    const shown = new Set(sections.flatMap(({ monitoring }) => monitoring.panels));
    expect(panels.filter((panel) => !shown.has(panel))).toEqual([]);
  });
});

describe('the alerts', () => {
  it.each(alerts)(
    '$name is PromQL about metrics and labels that there are, and names only labels that it keeps',
    (alert) => {
      const expr = forRule(alert.expr);
      expect(expr).not.toContain('$scope');
      expect(problemsOf(expr)).toEqual([]);
      const { grouping } = readQuery(expr);
      const named = [...alert.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      expect(named.filter((label) => !grouping.includes(label ?? ''))).toEqual([]);
    },
  );

  it('have a name of their own, say who acts and how, and lead to a heading that there is', () => {
    expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length);
    for (const { name, action, runbook } of alerts) {
      expect(name).toMatch(/^Headroom[A-Z]/);
      expect(action).toMatch(/^[A-Za-z].{10,}[^.]$/);
      expect(runbook).toMatch(/^docs\/.+#/);
      expect([runbook, leadsSomewhere('README.md', runbook)]).toEqual([runbook, true]);
    }
  });
});

it('a metric that nothing shows and a panel without a metric would be found', () => {
  const [first] = Object.values(sharedMonitoring.metrics);
  expect(problemsOf(`sum by (cluster) (${first?.name}{phase="Blocked"})`)).toEqual([]);
  expect(problemsOf('sum by (cluster, nodegroup) (headroom_nothing)')).toEqual([
    'no metric headroom_nothing',
    'nothing has the label nodegroup',
  ]);
  expect(problemsOf(`${first?.name}{quota="a"}`)).toEqual([`${first?.name} has no label quota`]);
  expect(() => readQuery('sum by (')).toThrow(/no PromQL/);
});

/** A workflow of a controller without an entry waits for nobody. */
const awaits: Readonly<Partial<Record<ControllerName, readonly AwaitedIn<string>[]>>> = {
  'github-budget': [budgetAwaits],
  'lights-out': [lightsOutAwaits],
  memcached: [memcachedAwaits],
  'node-group': [nodeGroupAwaits, drainAwaits],
  'quota-resize': [resizeAwaits],
  'quota-usage': [usageAwaits],
};

it('every phase that waits for a person is one of those that metrics and the overview ask Temporal for', () => {
  for (const [controller, tables] of Object.entries(awaits)) {
    const asked = [sharedMonitoring, controllerMonitoring[controller as ControllerName]].flatMap(
      ({ waitingPhases }) => waitingPhases,
    );
    const ofPeople = tables.flatMap((table) =>
      Object.entries(table).flatMap(([phase, awaited]) => (awaited?.whom === PERSON ? [phase] : [])),
    );
    expect([controller, ofPeople.filter((phase) => !asked.includes(phase))]).toEqual([controller, []]);
  }
});

it('the page of metrics is as the code has it today (npm run docs:metrics)', () => {
  expect(read('docs/metrics.md')).toBe(metricsPage());
});

it('the operations pages have every phase in which a workflow waits for a person or a limit', () => {
  const phases = new Set(every.flatMap(({ waitingPhases }: Monitoring) => waitingPhases));
  const text = operationsPages.map(read).join('');
  for (const phase of phases) expect(text).toContain(`\n- \`${phase}\``);
});
