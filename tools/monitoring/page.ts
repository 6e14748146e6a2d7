/** docs/metrics.md, made from what the controllers measure and show. */
import type { Metric } from '../../domain/kernel/monitoring/metric.ts';
import type { Alert } from '../../domain/kernel/monitoring/monitoring.ts';
import { forRule } from '../../domain/kernel/monitoring/query.ts';
import { type Section, sections } from './sections.ts';

const VALUES = [
  [
    '`monitoring.podMonitor.enabled`',
    'A PodMonitor, for the operator of Prometheus. It keeps the label `namespace` of a metric, which is that of a quota or a workload.',
  ],
  [
    '`monitoring.rules.enabled`',
    'A PrometheusRule with the alerts below, as far as what they are about is switched on.',
  ],
  [
    '`monitoring.dashboards.enabled`',
    "A ConfigMap for each dashboard, with the label that Grafana's sidecar looks for: an overview, and one for each controller.",
  ],
];

const introduction = (): string => `# Metrics, dashboards and alerts

Written by \`npm run docs:metrics\` from \`domain/*/metrics.ts\` and \`domain/*/monitoring.ts\`: change those. HELP texts, the
dashboards and the rules of the chart are made from the same.

${table(['value of the chart', 'it adds'], VALUES)}

All are off by default: the first two need the definitions of the operator of Prometheus. Without it, let Prometheus scrape port 9090 of the pods
with \`honor_labels: true\`, and take rules and dashboards from \`deploy/chart/files/monitoring\`.

Every metric has the label \`cluster\`. Where there are several processes, each starter tells the same of the cluster, so take the largest of such
a metric; of what each process counts by itself take the sum. The column "several" says which, and dashboards and rules do so. A worker keeps what it
has counted of a deleted object until it restarts. The gauges of the starters go with their object, and panels and alerts show counters of an object only while
it has such a gauge.

A series of a counter begins with its first count, and \`increase\` does not see that one. So the rules count a series that is younger than their span from
nothing: \`(x unless last_over_time(x[1d] offset 1h)) or increase(x[1h])\`. Where Prometheus sees the processes for the first time, that is all they have counted.

Metrics of Temporal's SDK are those of Headroom's task queues only, as other workers have the same.
`;

/** The whole page. */
export function metricsPage(): string {
  return [introduction(), ...sections.map(sectionText)].join('\n');
}

function sectionText({ name, monitoring: { title, metrics, panels, alerts } }: Section): string {
  const heading = name === 'overview' ? 'Every process' : title;
  const about =
    name === 'overview'
      ? 'The dashboard "Headroom" has these and the most important of each controller.'
      : `The dashboard "Headroom / ${title}" has ${panels.length} panels.`;
  return [
    `## ${heading}\n`,
    `${about}\n`,
    table(['metric', 'of', 'by', 'several', 'it tells'], Object.values(metrics).map(metricRow)),
    ...(alerts.length === 0 ? [] : ['', table(['alert', 'severity', 'who acts', 'and how'], alerts.map(alertRow))]),
    '',
    ...alerts.map(alertText),
  ].join('\n');
}

function metricRow({ name, type, of, labels, across, help }: Metric): readonly string[] {
  const by = labels.map((label) => `\`${label}\``).join(', ');
  const kind = type === 'histogram' ? 'A histogram. ' : '';
  return [`\`${name}\``, of, by, across === 'same' ? 'largest' : 'sum', `${kind}${help}`];
}

function alertRow({ name, severity, who, action, runbook }: Alert): readonly string[] {
  return [`\`${name}\``, severity, who, `${action} ([more](${runbook.replace(/^docs\//, '')}))`];
}

function alertText({ name, expr, for: span, summary }: Alert): string {
  const since = span === undefined ? '' : `, for ${span}`;
  return `\`${name}\`${since}: ${summary.replaceAll(/\{\{ \$(?:labels\.)?(\w+) \}\}/g, '$1')}\n\n\`\`\`promql\n${forRule(expr)}\n\`\`\`\n`;
}

/** With aligned columns, as the formatter of the documents wants them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((cells) => (cells[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
