import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { Config } from '../platform/config/config.ts';
import type { Log } from '../platform/log/log.ts';

/** What a room may use to build its activities: the ways to the world, and the configuration. */
export interface RoomContext {
  readonly config: Config;
  readonly kubeConfig: KubeConfig;
  readonly temporal: Client;
  readonly log: Log;
}

/** A room as the worker runs it. */
export interface Room {
  /** The workflow types that `workflows/index.ts` exports for it. */
  readonly workflowTypes: readonly string[];
  readonly createActivities: (context: RoomContext) => object;
}
