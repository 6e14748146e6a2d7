import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

/**
 * The operator commands of a workflow type. Each command is a signal, which people send from the Temporal UI, and an
 * update, which returns an answer.
 */
export interface CommandDefinitions<Name extends string, Input> {
  readonly signals: Readonly<Record<Name, SignalDefinition<[Input]>>>;
  readonly updates: Readonly<Record<Name, UpdateDefinition<string, [Input]>>>;
  /** What each command does, for people who choose one in a list. */
  readonly descriptions: Readonly<Record<Name, string>>;
}

/** Defines the commands of a workflow type from their descriptions: `defineCommands<Input>()({ pause: 'stop writing' })`. */
export function defineCommands<Input>() {
  return <Name extends string>(descriptions: Readonly<Record<Name, string>>): CommandDefinitions<Name, Input> => {
    const names = Object.keys(descriptions) as Name[];
    const forEach = <T>(define: (name: Name) => T): Readonly<Record<Name, T>> =>
      Object.fromEntries(names.map((name) => [name, define(name)])) as Record<Name, T>;
    return {
      signals: forEach((name) => defineSignal<[Input]>(name)),
      updates: forEach((name) => defineUpdate<string, [Input]>(name)),
      descriptions,
    };
  };
}

/** The result of a command, with a sentence for the person who sent it. A rejected command changes nothing. */
export type CommandAnswer<Memory> =
  | {
      readonly kind: 'accepted';
      readonly message: string;
      readonly memory: Memory;
      /** Side effect of the command besides the new memory. */
      readonly apply?: () => void;
    }
  | { readonly kind: 'rejected'; readonly message: string };

/** Answers a command: to say whether an update is accepted, or to apply it. */
export type Evaluate<Name extends string, Memory> = (
  name: Name,
  raw: unknown,
  step: 'validate' | 'apply',
) => CommandAnswer<Memory>;

/**
 * Handles each command as a signal and as an update.
 *
 * @param evaluate must be pure, because the update's validator calls it too; `raw` is whatever a person typed. The validator's
 *   answer is asked for once, and never while a history is replayed: only when it is applied may `patched` be asked.
 * @param handle applies the answer; `raw` as for `evaluate`.
 */
export function handleCommands<Name extends string, Input, Memory>(
  { signals, updates, descriptions }: CommandDefinitions<Name, Input>,
  evaluate: Evaluate<Name, Memory>,
  handle: (name: Name, answer: CommandAnswer<Memory>, raw: unknown) => void,
): void {
  for (const name of Object.keys(descriptions) as Name[]) {
    const run = (raw?: unknown): string => {
      const answer = evaluate(name, raw, 'apply');
      handle(name, answer, raw);
      return answer.message;
    };
    const signal: SignalDefinition<[Input]> = signals[name];
    const update: UpdateDefinition<string, [Input]> = updates[name];
    const description = descriptions[name];
    setHandler(signal, (raw) => void run(raw), { description });
    setHandler(update, run, {
      description,
      validator: (raw?: unknown) => {
        const answer = evaluate(name, raw, 'validate');
        if (answer.kind === 'rejected') throw ApplicationFailure.nonRetryable(answer.message, 'CommandRejected');
      },
    });
  }
}
