import { githubBudgetSettings } from './github-budget/settings.ts';
import { githubBudgetMonitoring } from './github-budget/monitoring.ts';
import type { ControllerName } from './kernel/controllers.ts';
import type { Monitoring } from './kernel/monitoring/monitoring.ts';
import type { ConfigOf, SettingsDefinition } from './kernel/settings/setting.ts';
import { leaseGcMonitoring } from './lease-gc/monitoring.ts';
import { leaseGcSchedule } from './lease-gc/schedule.ts';
import { leaseGcSettings } from './lease-gc/settings.ts';
import { lightsOutMonitoring } from './lights-out/monitoring.ts';
import { lightsOutSettings } from './lights-out/settings.ts';
import { memcachedMonitoring } from './memcached/monitoring.ts';
import { memcachedSettings } from './memcached/settings.ts';
import { nodeGroupMonitoring } from './node-group/monitoring.ts';
import { nodeGroupSettings } from './node-group/settings.ts';
import { quotaResizeMonitoring } from './quota-resize/monitoring.ts';
import { quotaResizeSettings } from './quota-resize/settings.ts';
import { quotaUsageMonitoring } from './quota-usage/monitoring.ts';
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

/** What every controller measures and shows, in the order of the documents. A controller without an entry does not compile. */
export const controllerMonitoring: Readonly<Record<ControllerName, Monitoring>> = {
  'quota-resize': quotaResizeMonitoring,
  'github-budget': githubBudgetMonitoring,
  'quota-usage': quotaUsageMonitoring,
  'lights-out': lightsOutMonitoring,
  memcached: memcachedMonitoring,
  'node-group': nodeGroupMonitoring,
  'lease-gc': leaseGcMonitoring,
};
