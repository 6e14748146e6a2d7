/** When the chart has which part of what is granted, as its templates say it. */
import { chartParts, type PartCondition } from '../../starter/cli/doctor/chart-parts.ts';
import type { PartOfChart } from './rbac.ts';

/** Of parts whose roles are bound in namespaces. */
const BOUND: Readonly<Record<string, Pick<PartOfChart, 'whereBound' | 'everywhereWith'>>> = {
  'quota-resize/deliveries': {
    whereBound: '(include "headroom.deliveryNamespaces" $ | fromJsonArray)',
    everywhereWith: '"*"',
  },
  'memcached/secrets': { whereBound: '$.Values.rights.memcachedSecrets' },
};

function inHelm(condition: PartCondition): string {
  const mode = 'dig "quotaUsage" "mode" "off" .Values.config';
  switch (condition.kind) {
    case 'on':
      return `dig "${condition.group}" "enabled" false .Values.config`;
    case 'counting':
      return condition.only === undefined ? `ne (${mode}) "off"` : `eq (${mode}) "${condition.only}"`;
    case 'ownCertificate':
      return 'eq .Values.webhooks.certificates "self"';
    case 'opened':
      return '.Values.overview.certificate';
    case 'right':
      return `.Values.rights.${condition.name}`;
  }
}

/** @throws Error for a part that the chart does not know: add when it has it. */
export function partOfChart(part: string): PartOfChart {
  const conditions = chartParts[part];
  if (conditions === undefined)
    throw new Error(`starter/cli/doctor/chart-parts.ts does not say when the chart has "${part}"`);
  const written = conditions.map(inHelm);
  const [only] = written;
  const all = `and ${written.map((one) => (one.startsWith('.') ? one : `(${one})`)).join(' ')}`;
  const condition = only === undefined ? null : written.length === 1 ? only : all;
  return { part, condition, whereBound: null, ...BOUND[part] };
}
