/** What an operator may tell a usage episode. Pure, so that an update's validator can ask. */
import { readCommandInput } from '../kernel/command-input.ts';
import { type EpochMs, formatInstant } from '../kernel/time.ts';
import type { UsageMemory } from './decide.ts';

/** Applies a command to the memory, which is null where the command is rejected. */
export function usageCommand(
  name: 'pause' | 'resume' | 'reconcileNow',
  raw: unknown,
  memory: UsageMemory,
  now: EpochMs,
): { readonly memory: UsageMemory | null; readonly message: string } {
  const { by, reason } = readCommandInput(raw);
  switch (name) {
    case 'pause':
      return memory.paused === null
        ? {
            memory: { ...memory, paused: { by, reason, at: now } },
            message: `paused by ${by}: nothing is written until resume`,
          }
        : { memory: null, message: `already paused by ${memory.paused.by} since ${formatInstant(memory.paused.at)}` };
    case 'resume':
      return memory.paused === null
        ? { memory: null, message: 'not paused, so there is nothing to resume' }
        : { memory: { ...memory, paused: null }, message: `resumed by ${by}` };
    case 'reconcileNow':
      return { memory, message: 'counting again' };
  }
}
