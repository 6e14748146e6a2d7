import type { NativeConnectionOptions } from '@temporalio/worker';
import type { Secret } from '../../domain/kernel/settings/secret.ts';

/** The version that the workers of a process are. */
export interface WorkerDeployment {
  readonly name: string;
  readonly buildId: string;
}

/** Temporal's frontend, with everything that is needed to connect to it. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  /** The address for messages, with the proxy on the way to it. */
  readonly place: string;
  /**
   * Options of a native connection; a client connection takes its address, TLS, API key, metadata and proxy. Certificates, the API
   * key's file and Temporal's configuration file are read each time, so that those that were replaced take effect. While they are invalid, as between
   * the replacement of a certificate and of its key, the last valid ones are used.
   */
  readonly connection: Secret<NativeConnectionOptions>;
  /** The version that workers are; null: they take part in no worker deployment. */
  readonly deployment: WorkerDeployment | null;
  /** What must not be logged. */
  readonly secrets: readonly Secret[];
}
