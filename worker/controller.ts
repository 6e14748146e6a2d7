import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { PauseView } from '../activities/kernel/pause-view.ts';
import type { PolicyTrial } from '../activities/kernel/policy-proof.ts';
import type { Config } from './config.ts';
import type { Log } from '../platform/log/log.ts';
import type { Access, CustomResource } from '../platform/kubernetes/access.ts';
import type { Tracing } from '../platform/tracing/interface.ts';
import type { OwnWorkerOptions } from '../platform/temporal/worker-connection.ts';

/** What a controller can use to build its activities: clients and configuration. */
export interface ControllerContext {
  readonly config: Config;
  readonly kubeConfig: KubeConfig;
  readonly temporal: Client;
  /** The process's cached view of the pauses. */
  readonly pauses: PauseView;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  readonly log: Log;
}

/** What all Temporal workers of the process share. */
export interface WorkerEnvironment {
  /** Creates a worker in the right Temporal namespace; waits while Temporal is unavailable. */
  readonly createWorker: (options: Omit<OwnWorkerOptions, 'identity'>) => Promise<Worker>;
  /** Milliseconds after which running activities are abandoned when the process stops. */
  readonly shutdownForceTime: number;
}

/** What a Temporal worker with workflows needs. */
export interface WorkflowEnvironment extends WorkerEnvironment {
  readonly workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
}

/** A policy of the API server, besides that of the writes, without which something is not believed. */
interface ControllerPolicy {
  readonly name: string;
  readonly trial: (systemNamespace: string) => PolicyTrial;
  /** What follows where it is not in force, a sentence. */
  readonly without: string;
}

/** A controller as the worker process runs it. */
export interface WorkerController {
  /** The workflow types that `workflows/index.ts` exports for it. */
  readonly workflowTypes: readonly string[];
  /** What its activities may do in the cluster, besides what every worker may. */
  readonly access: readonly Access[];
  readonly policies?: readonly ControllerPolicy[];
  /** Custom resources that it defines. */
  readonly customResources?: readonly CustomResource[];
  /** Whether this process runs its activities. */
  readonly isEnabled: (config: Config) => boolean;
  /** Its activities, for its own task queue; empty for a controller that has none. */
  readonly createActivities: (context: ControllerContext) => object;
  /**
   * A further worker, for workflows that are shared by clusters and have their own task queue. It stops after all
   * others, because running activities may need its workflows.
   */
  readonly createSharedWorker?: (environment: WorkflowEnvironment) => Promise<Worker>;
}
