import { eventually } from '../stack/eventually.ts';
import type { Hold } from './http/faults.ts';
import type { IncomingRequest } from './http/request-pattern.ts';

/**
 * Waits until a request is held.
 *
 * @param what for the message when none comes: "the merge of team-a is held".
 * @throws Error after `withinMs` milliseconds: whoever should have sent it may have ended, and then nothing is ever held.
 */
export async function untilHeld({ held }: Hold, what: string, withinMs?: number): Promise<IncomingRequest> {
  let request: IncomingRequest | undefined;
  void held.then((heldRequest) => {
    request = heldRequest;
  });
  return await eventually(what, () => request, withinMs);
}
