/** Which parts of the chart, by their names in the tables of access, belong to which settings; and which pairs of processes. */
import { type ControllerName, controllerNames } from '../../../domain/kernel/controllers.ts';
import type { Config } from '../../config.ts';
import { makesCertificate } from '../../admission/webhook-trial.ts';

/** What has to be so for a part to be there. */
export type PartCondition =
  | { readonly kind: 'on'; readonly group: 'lightsOut' | 'memcached' | 'nodeGroups' }
  | { readonly kind: 'counting'; readonly only?: 'own' }
  /** The starter makes the certificate of the webhooks itself, in a Secret that it may change. */
  | { readonly kind: 'ownCertificate'; readonly group: 'lightsOut' | 'memcached' | 'nodeGroups' }
  /** The overview is served to others too. */
  | { readonly kind: 'opened' }
  /** A right that no setting brings along: a value of the chart. */
  | { readonly kind: 'right'; readonly name: 'countSecrets' | 'memcachedSecrets' | 'kwokNodes' };

const COUNTING: PartCondition = { kind: 'counting' };

function on(group: 'lightsOut' | 'memcached' | 'nodeGroups'): PartCondition {
  return { kind: 'on', group };
}

/**
 * By the name in the tables of access; '' is what every account of a process has. All conditions of a part have to hold. Those of a
 * controller are also those of its pair, where each has its own.
 */
export const chartParts: Readonly<Record<string, readonly PartCondition[]>> = {
  '': [],
  overview: [{ kind: 'opened' }],
  'quota-resize': [],
  'quota-resize/deliveries': [],
  'quota-usage': [COUNTING],
  'quota-usage/reading': [COUNTING],
  'quota-usage/own': [{ kind: 'counting', only: 'own' }],
  'quota-usage/secrets': [COUNTING, { kind: 'right', name: 'countSecrets' }],
  'lights-out': [on('lightsOut')],
  'lights-out/webhook': [on('lightsOut'), { kind: 'ownCertificate', group: 'lightsOut' }],
  memcached: [on('memcached')],
  'memcached/secrets': [on('memcached'), { kind: 'right', name: 'memcachedSecrets' }],
  'memcached/webhook': [on('memcached'), { kind: 'ownCertificate', group: 'memcached' }],
  'node-group': [on('nodeGroups')],
  'node-group/kwok': [on('nodeGroups'), { kind: 'right', name: 'kwokNodes' }],
  'node-group/webhook': [on('nodeGroups'), { kind: 'ownCertificate', group: 'nodeGroups' }],
};

/** Whether these settings need a part. Rights that no setting brings along are needed by none. */
export function needsPart(part: string, config: Config): boolean {
  return chartParts[part]?.every((condition) => holds(condition, config)) === true;
}

function holds(condition: PartCondition, config: Config): boolean {
  switch (condition.kind) {
    case 'on':
      return config[condition.group].enabled;
    case 'counting':
      return condition.only === undefined
        ? config.quotaUsage.mode !== 'off'
        : config.quotaUsage.mode === condition.only;
    case 'ownCertificate':
      return makesCertificate(config[condition.group]);
    case 'opened':
      return config.overview.certificate !== undefined;
    case 'right':
      return false;
  }
}

/** The settings that name definitions of custom resources, each of which has rules of its own. */
const NAMING: Readonly<Record<string, (config: Config) => readonly string[]>> = {
  'lightsOut.scaledOwners': ({ lightsOut }) => lightsOut.scaledOwners ?? [],
};

/** @throws Error for a setting that is not known here: add it. */
export function definitionsNamed(setting: string, config: Config): readonly string[] {
  const named = NAMING[setting];
  if (named === undefined) throw new Error(`${setting} names no definitions`);
  return named(config);
}

/** The controller whose pair of processes a part is granted to; null for what is granted to every pair. */
export function controllerOfPart(part: string): ControllerName | null {
  const [first] = part.split('/', 1);
  return controllerNames.find((name) => name === first) ?? null;
}
