import { type Fence, parseFence } from '../../../domain/node-group/plan-claim.ts';
import { failure } from '../../kernel/failure.ts';

/** @throws InvalidInput, not retried, for what no starter has said. */
export function fenceOf({ fence }: { readonly fence: string }): Fence {
  try {
    return parseFence(fence);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw failure({ type: 'InvalidInput', message, nonRetryable: true });
  }
}
