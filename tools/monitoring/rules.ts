/** Rules of Prometheus, made from the alerts of the controllers. */
import { stringify } from 'yaml';
import type { Alert } from '../../domain/kernel/monitoring/monitoring.ts';
import { forRule } from '../../domain/kernel/monitoring/query.ts';
import { type Section, sections } from './sections.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly Rule[];
}

/** Each group by the name of its section. */
export function ruleGroups(): ReadonlyMap<string, RuleGroup> {
  return new Map(sections.map((section) => [section.name, groupOf(section)]));
}

/** As the list of groups in a PrometheusRule, or in a file of rules below `groups:`. */
export function groupsText(groups: readonly RuleGroup[]): string {
  return stringify(groups, { lineWidth: 0 });
}

function groupOf({ name, monitoring: { alerts } }: Section): RuleGroup {
  return { name: `headroom-${name}`, rules: alerts.map(ruleOf) };
}

function ruleOf({ name, expr, for: span, severity, summary, who, action, runbook }: Alert): Rule {
  return {
    alert: name,
    expr: forRule(expr),
    ...(span !== undefined && { for: span }),
    labels: { severity },
    annotations: { summary, description: `${who}: ${action}`, runbook_url: runbook },
  };
}
