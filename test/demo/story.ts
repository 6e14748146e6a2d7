/** What the stories of the demo have in common. */
import type { ExecutableName } from '../../tools/resolver/ensure-servers.ts';

/** A control plane and Temporal, which every story needs. */
export const KUBERNETES_AND_TEMPORAL = [
  'temporal',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
] as const satisfies readonly ExecutableName[];

export interface Teller {
  /** A line with the seconds since the start. */
  readonly log: (message: string) => void;
  readonly interrupt: AbortSignal;
}

export interface Story {
  /** What is started, in one line. */
  readonly opening: string;
  /** What it needs of this machine: no other server is built for it. */
  readonly servers: readonly ExecutableName[];
  /** Starts the servers. */
  readonly start: (teller: Teller) => Promise<RunningStory>;
}

export interface RunningStory {
  /** Resolves when it is over, or soon after the interrupt; then with no success. */
  tell(): Promise<{ readonly succeeded: boolean; readonly addresses: string }>;
  stop(): Promise<void>;
}
