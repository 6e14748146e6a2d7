/**
 * Pods that are left over when the nodes of their plan are there: kube-scheduler may place those that could go anywhere where others need
 * the room. Whoever waits for more pods of the burst need not wait any longer then.
 */
import type { EpochMs } from '../../kernel/time.ts';
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isComing } from './live-nodes.ts';
import { podKind } from './pod-kind.ts';
import { AND_OTHERS } from './trials.ts';

interface WaitingPod {
  readonly kind: string;
  readonly createdAt: EpochMs;
  readonly writtenAt: EpochMs | null;
}

/** Told each change of the cluster, it says when the last of the pods that machines came for was refused again. */
export class LeftOver {
  /** Pods that no node was found for. */
  readonly #waiting = new Map<string, WaitingPod>();
  /** Of those that the machines came for: the ones that may still be placed, and the ones that were refused again. */
  readonly #open = new Set<string>();
  readonly #refused = new Set<string>();
  /** Machines that are not ready yet. */
  readonly #coming = new Set<string>();
  /** What the machines have come for that became ready together. */
  readonly #cameFor = new Set<string>();
  readonly #ready = new Set<string>();
  /** When the last node became Ready: the kubelet's time, between two of the API server, whose times all others here are. */
  #readySince: EpochMs = 0;

  /** @param pod null for one that is gone. */
  pod(key: string, pod: Pod | null): void {
    if (pod === null || !isWaiting(pod)) this.#waiting.delete(key);
    else {
      const { createdAt, unscheduled } = pod;
      const kind = this.#waiting.get(key)?.kind ?? podKind(pod);
      this.#waiting.set(key, { kind, createdAt, writtenAt: unscheduled?.writtenAt ?? null });
    }
    this.#sort(key);
  }

  /** @param node null for one that is gone. */
  node(key: string, node: Pick<Node, 'ready'> | null): void {
    if (node?.ready.status !== 'True') {
      this.#ready.delete(key);
      return;
    }
    // Where the kubelet's clock is ahead, what it says of a node that has long been Ready is later at each of its heartbeats.
    if (this.#ready.has(key)) return;
    this.#ready.add(key);
    this.#readySince = Math.max(this.#readySince, node.ready.since);
    this.#sortAll();
  }

  /** @param machine null for one that is gone. */
  machine(key: string, machine: Machine | null): void {
    const isOnItsWay = machine !== null && isComing(machine) && machine.phase !== 'Ready';
    if (isOnItsWay) {
      if (this.#coming.size === 0) this.#cameFor.clear();
      this.#coming.add(key);
    } else if (this.#coming.delete(key) && machine?.phase === 'Ready') {
      for (const kind of machine.cameFor) this.#cameFor.add(kind);
    } else return;
    this.#sortAll();
  }

  /**
   * Whether every machine on its way has become a node, and kube-scheduler has refused since then all pods of those that they came for
   * which still wait. Pods that are younger than the last node may be the first ones of another burst.
   *
   * @returns true once for machines that came together.
   */
  take(): boolean {
    if (this.#coming.size > 0 || this.#open.size > 0 || this.#refused.size === 0) return false;
    this.#cameFor.clear();
    this.#sortAll();
    return true;
  }

  #sortAll(): void {
    this.#open.clear();
    this.#refused.clear();
    if (this.#cameFor.size > 0) for (const key of this.#waiting.keys()) this.#sort(key);
  }

  #sort(key: string): void {
    this.#open.delete(key);
    this.#refused.delete(key);
    const pod = this.#waiting.get(key);
    if (pod === undefined || !(this.#cameFor.has(pod.kind) || this.#cameFor.has(AND_OTHERS))) return;
    const isRefused = pod.createdAt < this.#readySince && (pod.writtenAt ?? 0) >= this.#readySince;
    (isRefused ? this.#refused : this.#open).add(key);
  }
}

function isWaiting({ node, phase, deletesAt, nominatedNode, unscheduled }: Pod): boolean {
  return (
    node === null &&
    phase === 'Pending' &&
    deletesAt === null &&
    nominatedNode === null &&
    unscheduled?.reason === 'Unschedulable'
  );
}
