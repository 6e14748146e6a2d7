/** What of the chart is made from what the controllers measure: files of rules and dashboards, and the templates that choose among them. */
import { chartParts, controllerOfPart } from '../../starter/cli/doctor/chart-parts.ts';
import { comment } from '../manifests/comment.ts';
import { partOfChart } from '../manifests/parts.ts';
import { dashboards } from './dashboards.ts';
import { groupsText, ruleGroups } from './rules.ts';

const HEADER = 'Written by `npm run manifests` from domain/*/monitoring.ts: change those.';
const FOLDER = 'files/monitoring';

/** Each file with its text, by its path below deploy/. */
export function monitoringFiles(): readonly (readonly [path: string, text: string])[] {
  const groups = [...ruleGroups()];
  return [
    ...groups.map(([name, group]) => [`chart/${rulesFile(name)}`, `${comment(HEADER)}${groupsText([group])}`] as const),
    ...[...dashboards()].map(
      ([name, dashboard]) => [`chart/${dashboardFile(name)}`, `${JSON.stringify(dashboard, null, 2)}\n`] as const,
    ),
    ['chart/templates/monitoring/rules.yaml', rulesTemplate(groups.map(([name]) => name))],
    ['chart/templates/monitoring/dashboards.yaml', dashboardsTemplate([...dashboards().keys()])],
  ];
}

const rulesFile = (name: string): string => `${FOLDER}/rules/${name}.yaml`;
const dashboardFile = (name: string): string => `${FOLDER}/dashboards/${name}.json`;

function rulesTemplate(names: readonly string[]): string {
  const groups = names.map((name) =>
    whereOn(name, `    {{- include "headroom.ruleGroup" (list $ "${rulesFile(name)}") | nindent 4 }}\n`),
  );
  return `{{- if .Values.monitoring.rules.enabled }}
${comment(HEADER)}apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: headroom
  namespace: {{ .Release.Namespace }}
  {{- include "headroom.monitoringMeta" (list $ .Values.monitoring.rules.labels) | nindent 2 }}
spec:
  groups:
${groups.join('')}{{- end }}
`;
}

function dashboardsTemplate(names: readonly string[]): string {
  const documents = names.map((name, index) =>
    whereOn(
      name,
      `${index === 0 ? '' : '---\n'}apiVersion: v1
kind: ConfigMap
metadata:
  name: headroom-dashboard-${name}
  namespace: {{ .Release.Namespace }}
  {{- include "headroom.monitoringMeta" (list $ .Values.monitoring.dashboards.labels) | nindent 2 }}
data:
  headroom-${name}.json: |
    {{- .Files.Get "${dashboardFile(name)}" | nindent 4 }}
`,
    ),
  );
  return `{{- if .Values.monitoring.dashboards.enabled }}\n${comment(HEADER)}${documents.join('')}{{- end }}\n`;
}

/** The text where the controller is switched on, if it is one that is. */
function whereOn(name: string, text: string): string {
  const isSwitched = controllerOfPart(name) !== null && name in chartParts;
  const condition = isSwitched ? partOfChart(name).condition : null;
  return condition === null ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
}
