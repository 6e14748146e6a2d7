/** docs/metrics.md and the alerts of the operations pages, made from what the controllers measure and show. */
import { relative } from 'node:path/posix';
import type { Metric } from '../../domain/kernel/monitoring/metric.ts';
import type { Alert } from '../../domain/kernel/monitoring/monitoring.ts';
import { forRule } from '../../domain/kernel/monitoring/query.ts';
import { type Section, sections } from './sections.ts';

const introduction = `# Metrics and dashboards

Written by \`npm run docs:metrics\` from \`domain/*/metrics.ts\` and \`domain/*/monitoring.ts\`: change those. HELP texts, the
dashboards and the rules of the chart are made from the same. The alerts are on the [operations pages](operations.md), under the last heading of each.

Three values of the chart, all off by default:

- \`monitoring.podMonitor.enabled\`: a PodMonitor, for the operator of Prometheus. It keeps the label \`namespace\` of a metric, which is that of a quota or a
  workload.
- \`monitoring.rules.enabled\`: a PrometheusRule with the alerts of everything that is switched on. Set \`monitoring.rules.documents\` to where you keep
  these documents, so that the links of the alerts lead there.
- \`monitoring.dashboards.enabled\`: a ConfigMap for each dashboard, with the label that Grafana's sidecar looks for: an overview, and one for each controller.

The first two need the custom resource definitions of the operator of Prometheus. Without it, let Prometheus scrape port 9090 of the pods
with \`honor_labels: true\`, and take rules and dashboards from \`deploy/chart/files/monitoring\`.

Every metric has the label \`cluster\`. Where there are several processes, each starter tells the same of the cluster, so take the largest of such
a metric. Of what each process counts by itself take the sum. The words "largest" and "sum" say which, and dashboards and rules do so. A worker keeps what it
has counted of a deleted object until it restarts. The gauges of the starters go with their object, and panels and alerts show counters of an object only while
it has such a gauge.

A series of a counter begins with its first count, and \`increase\` does not see that one. So the rules count a series that is younger than their span from
zero: \`(x unless last_over_time(x[1d] offset 1h)) or increase(x[1h])\`. Where Prometheus sees the processes for the first time, the rules count everything
that the processes have counted.

Metrics of Temporal's SDK are those of Headroom's task queues only, as other workers have the same.
`;

/** The page of metrics. */
export function metricsPage(): string {
  return [introduction, ...sections.map(sectionText)].join('\n');
}

function sectionText({ name, monitoring: { title, metrics, panels } }: Section): string {
  const heading = name === 'overview' ? 'Every process' : title;
  const about =
    name === 'overview'
      ? 'The dashboard "Headroom" has these and the most important of each controller.'
      : `The dashboard "Headroom / ${title}" has ${panels.length} panels.`;
  return [`## ${heading}\n`, `${about}\n`, ...Object.values(metrics).map(metricText), ''].join('\n');
}

/** The name, then who tells it by which labels and how several are put together, then what it tells. */
function metricText({ name, type, of, labels, across, help }: Metric): string {
  const by = labels.length === 0 ? '' : `, by ${labels.map((label) => `\`${label}\``).join(', ')}`;
  const kind = type === 'histogram' ? 'A histogram. ' : '';
  return `- \`${name}\` (${of}${by}; ${across === 'same' ? 'largest' : 'sum'}): ${kind}${help}`;
}

const ALERTS = '\n## Alerts\n';
/** What has no operations page of its own is on the one of what all share. */
const SHARED = { page: 'docs/operations/shared.md', names: ['overview', 'github-budget', 'lease-gc'] };

/** The operations pages that have alerts. */
export const operationsPages: readonly string[] = [...new Set(sections.map(pageOf))];

function pageOf({ name }: Section): string {
  return SHARED.names.includes(name) ? SHARED.page : `docs/operations/${name}.md`;
}

/** An operations page with its alerts as they are now, which are all that follows its last heading. @throws Error where there is no such heading. */
export function withAlerts(page: string, text: string): string {
  const end = text.indexOf(ALERTS);
  if (end < 0) throw new Error(`${page} has no heading "Alerts"`);
  const alerts = sections.filter((section) => pageOf(section) === page).flatMap(({ monitoring }) => monitoring.alerts);
  return [
    text.slice(0, end) + ALERTS,
    'Written by `npm run docs:metrics` from `domain/*/monitoring.ts`. The chart has these alerts as a PrometheusRule: `monitoring.rules.enabled`.\n',
    ...alerts.map((alert) => alertText(alert, page)),
  ].join('\n');
}

function alertText({ name, expr, for: span, summary, severity, who, action, runbook }: Alert, page: string): string {
  const since = span === undefined ? '' : `, after ${span}`;
  return `### ${name}

${capitalized(severity)}${since}. ${capitalized(withoutTemplates(summary))}. **Who acts:** ${who}.
What to do: ${withoutTemplates(action)} ([more](${relativeLink(page, runbook)})).

\`\`\`promql
${forRule(expr)}
\`\`\`
`;
}

function relativeLink(page: string, runbook: string): string {
  return runbook.startsWith(`${page}#`) ? runbook.slice(page.length) : relative('docs/operations', runbook);
}

/** A label in the place of its value. */
function withoutTemplates(text: string): string {
  return text.replaceAll(/\{\{ \$(?:labels\.)?(\w+) \}\}/g, (_, label: string) => label.toUpperCase());
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
