import { type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import {
  allConstants,
  allSettings,
  type ConfigSources,
  loadConfig as loadWith,
  type PlatformConfig,
} from '../platform/config/config.ts';

/** The configuration of the starter and of the command line: what every process has, and what the controllers add. */
export type Config = PlatformConfig & ControllerConfig;

/** Every setting, in the order of the documentation. */
export const settingEntries = allSettings(controllerSettings);

/** What is a constant, in the same order. */
export const constantEntries = allConstants(controllerSettings);

/** @throws {ConfigError} with every problem that was found. */
export function loadConfig(sources: ConfigSources): Config {
  return loadWith<ControllerConfig>(controllerSettings, sources);
}
