/** What Headroom asks of whoever makes machines. Each adapter is a folder beside this file. */
import type { InstanceType, Machine, NodeGroup } from '../../../domain/node-group/model/node-group.ts';

/** A machine that is to be made. Its name is its VPSieNode's, and unique in the cluster for ever. */
export type MachineRequest = Pick<Machine, 'name' | 'uid' | 'instanceType'> & Partial<Pick<Machine, 'fillLater'>>;

/** What became of a request. */
export type Creation =
  /** There is exactly this one machine for the request. */
  | {
      readonly kind: 'made';
      /** The provider's own name of the machine, the same for ever. */
      readonly providerId: string;
      /** The name of the Node that it becomes; null where the provider does not say it, or not yet. */
      readonly nodeName: string | null;
    }
  /** Not known yet, or not its turn yet: to be asked for again, in milliseconds. */
  | {
      readonly kind: 'waiting';
      readonly detail: string;
      readonly retryAfterMs: number;
      /** Nobody has asked for it yet, because others come before it: the time of a machine that is being made does not run. */
      readonly isQueued?: true;
    }
  /** There is none, and asking again soon would not help; a sentence with the provider's own words. */
  | { readonly kind: 'failed'; readonly detail: string };

export type Deletion =
  | { readonly kind: 'gone' }
  | { readonly kind: 'going'; readonly detail: string; readonly retryAfterMs: number };

/**
 * A provider of machines. Each method can be ended at any moment, and called again by another process, with the same effect as one
 * call: exactly one machine a request, whatever answers are lost. All throw `ProviderUnavailable` (an ApplicationFailure that is
 * retried) where the provider cannot be reached or does not accept the credentials; the message has no secret. What they keep
 * in the cluster is read and written with the errors of the API server as they come.
 */
export interface NodeProvider {
  /** The instance types of the group's offerings; those that the provider does not know are left out. */
  instanceTypes(group: NodeGroup): Promise<readonly InstanceType[]>;
  /**
   * Asks for the machines, as many in one request as the provider allows.
   * @returns an answer for each request, in their order.
   */
  ensureCreated(group: NodeGroup, requests: readonly MachineRequest[]): Promise<readonly Creation[]>;
  /**
   * Deletes a machine; also one whose `providerId` is null, because the answer to its request may have been lost.
   * The Node object is left to the caller.
   */
  ensureDeleted(group: Pick<NodeGroup, 'name' | 'providerSpec'>, machine: MachineToDelete): Promise<Deletion>;
}

export type MachineToDelete = Pick<Machine, 'name' | 'uid' | 'providerId'>;
