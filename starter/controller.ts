import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { Registry } from 'prom-client';
import type { PolicyTrial } from '../activities/kernel/policy-proof.ts';
import type { AwaitedIn } from '../domain/kernel/awaited.ts';
import type { PauseInForce, PauseSubject } from '../domain/kernel/pause.ts';
import type { Access } from '../platform/kubernetes/access.ts';
import type { HeadroomProcess } from '../platform/process/process.ts';
import type { AdmissionWebhooks } from './admission/webhooks.ts';
import type { Config } from './config.ts';
import type { CacheHost } from './kernel/cache-host.ts';
import type { CountedUsage } from './kernel/counted-usage.ts';
import type { Informer } from '../activities/kubernetes/informer.ts';
import type { Outlooks } from './kernel/outlooks.ts';
import type { RequestMetrics } from './kernel/request-metrics.ts';
import type { Overview } from './overview/part.ts';

/** What a controller may use to watch the cluster and to wake its workflows. */
export interface StarterContext {
  readonly headroom: HeadroomProcess<Config>;
  readonly kubeConfig: KubeConfig;
  readonly client: Client;
  readonly metrics: Registry;
  readonly countedUsage: CountedUsage;
  readonly outlooks: Outlooks;
  readonly requestMetrics: RequestMetrics;
  /** The pause that holds for a subject, as it is watched: whoever writes asks again. */
  readonly pauseOf: (subject: PauseSubject) => PauseInForce | null;
  readonly pauses: {
    /**
     * The pause that holds for a subject, to be asked before each write: a view that was not confirmed lately is read
     * again.
     *
     * @throws the API server's error where it cannot be read: then nothing is written.
     */
    readonly before: (subject: PauseSubject) => Promise<PauseInForce | null>;
    /** The pauses that hold for several subjects, as new as those of `before` for the given one. */
    readonly around: (subject: PauseSubject) => Promise<(subject: PauseSubject) => PauseInForce | null>;
    /** Called when something is paused, or a pause ends. */
    readonly onChange: (listener: () => void) => void;
  };
  /** Hosts activities that read the controller's caches. */
  readonly cacheHost: CacheHost;
}

/** How people are told of workflows of a controller. */
export interface NamedWorkflows {
  readonly noun: string;
  readonly statusCommand: string;
  /** For whom they wait in each phase. */
  readonly awaits: AwaitedIn<string>;
}

/** A controller that runs in the starter. What it adds to the shutdown and to the readiness it adds itself. */
export interface RunningController {
  /** What must be listed and connected before the process is ready, by the name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  /** What the API server asks before it stores an object of the controller's, where that is to be served. */
  readonly admission?: AdmissionWebhooks | undefined;
  /** What the overview page shows of it. */
  readonly overview?: Overview;
  /** How the overview page calls a workflow of the controller, and what tells its status, both to be followed by its target. */
  readonly workflows?: NamedWorkflows;
}

/** A controller as the starter process runs it. */
export interface StarterController {
  /** Whether this process runs it. */
  readonly isEnabled: (config: Config) => boolean;
  /** What it may do in the cluster, besides what every starter may. */
  readonly access: readonly Access[];
  /**
   * Writes that its roles allow with these settings and the policy of the starter's writes has to refuse. Absent: it writes nothing.
   */
  readonly writeTrials?: (config: Config) => readonly PolicyTrial[];
  /**
   * Watches what the controller is about, and wakes its workflows.
   *
   * @throws the system's error when an address cannot be listened on.
   */
  readonly start: (context: StarterContext) => Promise<RunningController> | RunningController;
}

/** For a controller whose workflows others start: there is nothing to watch. */
export const nothingToWatch: StarterController = {
  isEnabled: () => false,
  access: [],
  start: () => ({ informers: {} }),
};
