import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { PauseView } from '../activities/kernel/pause-view.ts';
import type { Config } from './config.ts';
import type { Log } from '../platform/log/log.ts';
import type { Access, CustomResource } from '../platform/kubernetes/access.ts';
import type { HistogramBuckets, OwnWorkerOptions } from '../platform/temporal/worker-connection.ts';

/** What a controller may use to build its activities: the ways to the world, and the configuration. */
export interface ControllerContext {
  readonly config: Config;
  readonly kubeConfig: KubeConfig;
  readonly temporal: Client;
  /** What nobody may write for, as this process knows it. */
  readonly pauses: PauseView;
  readonly log: Log;
}

/** What every Temporal worker of the process has in common. */
export interface WorkerEnvironment {
  /** A worker of this process in the namespace of Temporal that it is for; waits while Temporal is away. */
  readonly createWorker: (options: Omit<OwnWorkerOptions, 'identity'>) => Promise<Worker>;
  /** Milliseconds: after so long what is under way is given up when the process stops. */
  readonly shutdownForceTime: number;
}

/** What a Temporal worker needs that runs workflows. */
export interface WorkflowEnvironment extends WorkerEnvironment {
  readonly workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
}

/** A controller as the worker process runs it. */
export interface WorkerController {
  /** The workflow types that `workflows/index.ts` exports for it. */
  readonly workflowTypes: readonly string[];
  /** What its activities may do in the cluster, besides what every worker may. */
  readonly access: readonly Access[];
  /** What it defines for people to write. */
  readonly customResources?: readonly CustomResource[];
  /** Whether this process runs its activities. */
  readonly isEnabled: (config: Config) => boolean;
  /** Its activities, for its own task queue; empty for a controller that has none. */
  readonly createActivities: (context: ControllerContext) => object;
  /** The buckets of the histograms that its activities fill. */
  readonly histogramBuckets?: HistogramBuckets;
  /**
   * One more worker, for workflows that do not belong to one cluster and have a task queue of their own. It ends after all
   * others: activities that are still under way may need its workflows.
   */
  readonly createSharedWorker?: (environment: WorkflowEnvironment) => Promise<Worker>;
}
