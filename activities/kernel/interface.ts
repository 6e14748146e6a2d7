import type { Pause, PauseScope, PauseSubject } from '../../domain/kernel/pause.ts';

/** Activities of every controller about pauses. */
export interface PauseActivities {
  /**
   * Returns when nothing is paused for the subject.
   * @throws NotYet until then.
   */
  awaitResume(input: { readonly subject: PauseSubject }): Promise<void>;
  /** Keeps a pause outside of the run that it was said to, or takes it away with null. It is written whatever is paused. */
  ensurePauseKept(input: {
    readonly scope: Extract<PauseScope, { kind: 'target' }>;
    readonly pause: Pause | null;
  }): Promise<void>;
}
