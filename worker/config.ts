import type { ControllerConfig } from '../domain/registry.ts';
import type { PlatformConfig } from '../platform/config/config.ts';

/** The configuration of the worker: what every process has, and what the controllers add. */
export type Config = PlatformConfig & ControllerConfig;
