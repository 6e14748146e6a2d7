import { githubBudgetSettings } from './github-budget/settings.ts';
import type { ControllerName } from './kernel/controllers.ts';
import type { ConfigOf, SettingsDefinition } from './kernel/settings/setting.ts';
import { leaseGcSchedule } from './lease-gc/schedule.ts';
import { leaseGcSettings } from './lease-gc/settings.ts';
import { lightsOutSettings } from './lights-out/settings.ts';
import { memcachedSettings } from './memcached/settings.ts';
import { nodeGroupSettings } from './node-group/settings.ts';
import { quotaResizeSettings } from './quota-resize/settings.ts';
import { quotaUsageSettings } from './quota-usage/settings.ts';

/** The settings of every controller. A controller without an entry does not compile. */
export const controllerSettings = {
  'quota-resize': quotaResizeSettings,
  'github-budget': githubBudgetSettings,
  'lease-gc': leaseGcSettings,
  'quota-usage': quotaUsageSettings,
  'lights-out': lightsOutSettings,
  memcached: memcachedSettings,
  'node-group': nodeGroupSettings,
} as const satisfies Readonly<Record<ControllerName, SettingsDefinition>>;

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- a controller may have no settings
type Union = ConfigOf<(typeof controllerSettings)[ControllerName]>;
type Together<Parts> = (Parts extends unknown ? (part: Parts) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The combined configuration of all controllers. */
export type ControllerConfig = Together<Union>;

/** The Schedule that every cluster has. It also records which cluster owns the cluster name. */
export const clusterSchedule = leaseGcSchedule;
