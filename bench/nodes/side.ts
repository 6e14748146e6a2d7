import type { ControlPlane } from '../../test/kernel/servers/control-plane.ts';

/** One of the two that are compared, on a control plane of its own, ready for pods. */
export interface Side {
  readonly name: string;
  /** The users that its processes are. */
  readonly users: readonly string[];
  /** The resource by which it asks for a node. */
  readonly claims: 'vpsienodes' | 'nodeclaims';
  readonly plane: ControlPlane;
  /** Its own processes, without the servers. */
  readonly pids: Readonly<Record<string, number>>;
  readonly stop: () => Promise<void>;
}
