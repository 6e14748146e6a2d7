/** What the workflow of a NodeGroup says of itself, in words. */
import { sentence } from '../../../domain/kernel/sentence.ts';
import { type EpochMs, withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { NodeGroupRunStatus } from '../../../workflows/node-group/messages.ts';

export function statusText(seen: NodeGroupRunStatus, now: EpochMs): string {
  const { target, phase, reason, detail, facts, since, draining, lastCommand } = seen;
  const lines = [
    `${target.group}: ${phase} (${reason}) since ${since}`,
    sentence(detail),
    ...facts.map((fact) => `  ${sentence(fact)}`),
    ...(draining.length === 0 ? [] : [`  Draining: ${draining.join(', ')}`]),
    ...(lastCommand === null ? [] : [`  Last command: ${lastCommand}`]),
  ];
  return withRelativeTimes(lines.join('\n'), now);
}
