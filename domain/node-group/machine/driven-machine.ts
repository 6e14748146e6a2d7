/** A machine as its driver knows it: more of its VPSieNode than a plan needs. */
import type { EpochMs } from '../../kernel/time.ts';
import { drainsFirst, goesUndrained, readMachine } from '../api/machine.ts';
import { SCALE_UP_REASON } from '../api/names.ts';
import type { Machine } from '../model/node-group.ts';
import { listOf } from '../../kernel/pod-requests.ts';
import { fieldsOf, labelsOf, momentOf, textOf } from '../scheduling/read-pod.ts';

export interface DrivenMachine extends Machine {
  /** Whether it was created because pods were pending. */
  readonly isForPods: boolean;
  /** When the provider was asked for it first; null for one that waits for its turn. */
  readonly askedAt: EpochMs | null;
  /** When its node was ready first; null for one that never was. */
  readonly readyAt: EpochMs | null;
  /** What went wrong last; empty where nothing did. */
  readonly lastError: string;
  readonly finalizers: readonly string[];
  /** As they are written there. */
  readonly ownerReferences: readonly Readonly<Record<string, unknown>>[];
  /** Whether its object was deleted, and a Node of it, if there is one, is drained first. */
  readonly drainsFirst: boolean;
  /** Whether somebody wants no drain when its object is deleted. */
  readonly goesUndrained: boolean;
}

/** Reads a complete object, any part of which may be missing. Never throws. */
export function readDrivenMachine(object: unknown): DrivenMachine {
  const whole = fieldsOf(object);
  const metadata = fieldsOf(whole['metadata']);
  const status = fieldsOf(whole['status']);
  const { finalizers } = metadata;
  const machine = readMachine(object);
  return {
    ...machine,
    isForPods: labelsOf(metadata['annotations'])[SCALE_UP_REASON] === 'PendingPods',
    askedAt: momentOf(status['createdAt']) || null,
    readyAt: momentOf(status['readyAt']) || null,
    lastError: textOf(status['lastError']),
    finalizers: Array.isArray(finalizers) ? finalizers.map(String) : [],
    ownerReferences: listOf(metadata['ownerReferences']),
    drainsFirst: drainsFirst(metadata, machine.phase),
    goesUndrained: goesUndrained(metadata),
  };
}
