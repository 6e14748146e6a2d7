import { API_VERSION, KIND, NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { ensureObjectEvent } from '../../kernel/object-event.ts';
import type { GroupInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';

/** The VPSie autoscaler's Events, and our own `TakenOver`, `TooFewReady` and `CameInVain`. */
type GroupEvent = {
  readonly message: string;
  /** Writes with the same key give one Event. */
  readonly key: string;
} & (
  | { readonly type: 'Normal'; readonly reason: 'ScalingUp' | 'ScalingDown' | 'TakenOver' }
  | { readonly type: 'Warning'; readonly reason: 'ScaleUpFailed' | 'ScaleDownBlocked' | 'TooFewReady' | 'CameInVain' }
);

/** Writes an Event on a NodeGroup; one that cannot be written stops nothing. */
export async function reportOnGroup(
  { kubernetes, log }: Pick<MachineOptions, 'kubernetes' | 'log'>,
  { target: { group: name }, uid }: GroupInput,
  event: GroupEvent,
): Promise<void> {
  const about = { apiVersion: API_VERSION, kind: KIND, namespace: NAMESPACE, name, uid };
  try {
    await ensureObjectEvent(kubernetes, { about, ...event });
  } catch (error) {
    log.warn({ err: error, nodeGroup: name }, `no Event for: ${event.message}`);
  }
}
