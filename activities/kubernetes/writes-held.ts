import { type PauseInForce, pauseSentence } from '../../domain/kernel/pause.ts';

/** A write was not sent, because the policy that holds this account is not proved. */
export class WritesHeld extends Error {
  override readonly name = 'WritesHeld';
  readonly pause: PauseInForce;

  constructor(pause: PauseInForce) {
    super(`nothing is written: ${pauseSentence(pause)}`);
    this.pause = pause;
  }
}
