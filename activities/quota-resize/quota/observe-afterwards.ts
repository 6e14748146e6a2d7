import type { Logger } from 'pino';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { QuotaObservation } from '../../../domain/quota-resize/model/observation.ts';
import { notLaterThanNow } from '../../kernel/attempt.ts';
import { abortedAfter } from '../../kernel/cancellation.ts';
import type { Observed, Observing } from '../interface.ts';

/** How long a step goes on to observe, in milliseconds: an observation takes a tenth of a second where nothing is wrong, and one of five seconds is too old. */
const AFTERWARDS_MS = 4_000;

/**
 * Observes the quota at the end of a step that was asked to. An observation that takes long or fails is no reason to do the step once
 * more: whoever gets none observes by himself.
 */
export async function observeAfterwards(
  { target, observes }: Observing & { readonly target: QuotaTarget },
  observe: (target: QuotaTarget) => Promise<QuotaObservation>,
  log: Pick<Logger, 'info'>,
): Promise<Observed> {
  if (observes !== true) return {};
  const readAfter = notLaterThanNow();
  try {
    const observation = await abortedAfter(AFTERWARDS_MS, async () => await observe(target));
    return { observation, ...(readAfter === null ? {} : { readAfter }) };
  } catch (error) {
    log.info({ target: targetName(target), error: String(error) }, 'the quota was not observed after a step');
    return {};
  }
}
