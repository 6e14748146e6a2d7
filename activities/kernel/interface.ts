import type { Pause, PauseInForce, PauseScope, PauseSubject } from '../../domain/kernel/pause.ts';

/** Activities of every controller about pauses. */
export interface PauseActivities {
  /** The pause of the subject, read just now; null when there is none. */
  observePause(input: { readonly subject: PauseSubject }): Promise<PauseInForce | null>;
  /**
   * Returns when nothing is paused for the subject.
   * @throws NotYet until then.
   */
  awaitResume(input: { readonly subject: PauseSubject }): Promise<void>;
  /** Saves a pause in the ConfigMap, or deletes it when null. Allowed during any pause. */
  ensurePauseKept(input: {
    readonly scope: Extract<PauseScope, { kind: 'target' }>;
    readonly pause: Pause | null;
  }): Promise<void>;
}
