/** What the workflows of node groups call, besides the activities of a drain. */
import type { NodeGroupTarget } from '../../domain/node-group/target.ts';

interface MachineInput {
  readonly target: NodeGroupTarget;
  /** Of the NodeGroup that this is about: one that was created again under the same name is another one. */
  readonly uid: string;
  /** The VPSieNode. */
  readonly machine: string;
}

export interface NodeGroupActivities {
  /**
   * Deletes the VPSieNode of a machine, and with it whatever its finalizers stand for. Once this was called there is no way back.
   * @throws NotYet, retried, until the object is gone.
   */
  ensureMachineDeleted(input: MachineInput): Promise<void>;
}
