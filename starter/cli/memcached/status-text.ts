/** What the workflow of a Memcached says of itself, in words. */
import { sentence } from '../../../domain/kernel/sentence.ts';
import { type EpochMs, withRelativeTimes } from '../../../domain/kernel/time.ts';
import { memcachedName } from '../../../domain/memcached/target.ts';
import type { MemcachedRunStatus } from '../../../workflows/memcached/messages.ts';

export function statusText(seen: MemcachedRunStatus, now: EpochMs): string {
  const { target, phase, reason, detail, facts, since, lastCommand } = seen;
  const lines = [
    `${memcachedName(target)}: ${phase} (${reason}) since ${since}`,
    sentence(detail),
    ...facts.map((fact) => `  ${sentence(fact)}`),
    ...(lastCommand === null ? [] : [`  Last command: ${lastCommand}`]),
  ];
  return withRelativeTimes(lines.join('\n'), now);
}
