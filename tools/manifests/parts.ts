/** When the chart has which part of what is granted. */
import type { PairName } from '../../domain/kernel/controllers.ts';
import type { PartOfChart } from './rbac.ts';

const isOn = (group: string): string => `dig "${group}" "enabled" false .Values.config`;
const isCounting = `ne (dig "quotaUsage" "mode" "off" .Values.config) "off"`;

/** A certificate that the starter makes is in a Secret that it may change. */
function ownCertificate(group: string): Omit<PartOfChart, 'part'> {
  return { condition: `and (${isOn(group)}) (eq .Values.webhooks.certificates "self")`, whereBound: null };
}

function when(condition: string | null): Omit<PartOfChart, 'part'> {
  return { condition, whereBound: null };
}

/** When a controller is switched on, in the chart's templates; null: always. */
const PAIRS: Readonly<Record<PairName, string | null>> = {
  'quota-resize': null,
  'quota-usage': isCounting,
  'lights-out': isOn('lightsOut'),
  memcached: isOn('memcached'),
  'node-group': isOn('nodeGroups'),
};

export function conditionOfPair(pair: PairName): string | null {
  return PAIRS[pair];
}

/** By the name in the tables of access; '' is what every account of a process has. */
const PARTS: Readonly<Record<string, Omit<PartOfChart, 'part'>>> = {
  '': when(null),
  'quota-resize': when(null),
  'quota-usage/reading': when(isCounting),
  'quota-usage/own': when('eq (dig "quotaUsage" "mode" "off" .Values.config) "own"'),
  'quota-usage/secrets': when(`and (${isCounting}) .Values.rights.countSecrets`),
  'lights-out': when(isOn('lightsOut')),
  'lights-out/webhook': ownCertificate('lightsOut'),
  memcached: when(isOn('memcached')),
  'memcached/secrets': {
    condition: `and (${isOn('memcached')}) .Values.rights.memcachedSecrets`,
    whereBound: '$.Values.rights.memcachedSecrets',
  },
  'memcached/webhook': ownCertificate('memcached'),
  'node-group': when(isOn('nodeGroups')),
  'node-group/kwok': when(`and (${isOn('nodeGroups')}) .Values.rights.kwokNodes`),
  'node-group/webhook': ownCertificate('nodeGroups'),
};

/** @throws Error for a part that the chart does not know: add when it has it. */
export function partOfChart(part: string): PartOfChart {
  const known = PARTS[part];
  if (known === undefined) throw new Error(`tools/manifests/parts.ts does not say when the chart has "${part}"`);
  return { part, ...known };
}
