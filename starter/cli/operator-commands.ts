/** Commands to the workflow of one target: where it is, and what people tell it. Each controller says what differs. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { type Command, InvalidArgumentError } from 'commander';
import { sentence } from '../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../domain/kernel/time.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { withClient } from './connection.ts';
import type { CommandTools, LoadedConfig, OperatorCommand, Prepared, StatusCommand, TargetForm } from './controller.ts';
import { answered, userName } from './shared.ts';

/** What every command that changes something takes. */
export interface WhoAndWhy {
  readonly by?: string;
  readonly reason?: string;
}

export function addWhoAndWhy(command: Command): Command {
  return command
    .option('--by <name>', 'who gives the command (default: your user name)')
    .option('--reason <text>', 'why you give the command; Headroom keeps it, and shows it to everybody who asks');
}

/** Reads the name of a target. */
export function targetArgument({ isTarget, expected }: TargetForm): (text: string) => string {
  return (text) => {
    if (!isTarget(text)) throw new InvalidArgumentError(`"${text}" is not ${expected}`);
    return text;
  };
}

/** A command about one target, with examples below its help. */
export function targetCommand(
  parent: Command,
  name: string,
  target: TargetForm,
  examples: readonly string[] = [],
): Command {
  const { argument, description } = target;
  return withExamples(parent, parent.command(name), examples).argument(
    `<${argument}>`,
    description,
    targetArgument(target),
  );
}

/** Examples below the help of a command, without the words that lead to its parent. */
export function withExamples(parent: Command, command: Command, examples: readonly string[]): Command {
  if (examples.length === 0) return command;
  const path = parent.parent === null ? parent.name() : `${parent.parent.name()} ${parent.name()}`;
  const lines = examples.map((example) => (example.includes('headroom') ? example : `${path} ${example}`));
  return command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n  ${lines.join('\n  ')}`);
}

export function addStatusCommand(
  parent: Command,
  target: TargetForm,
  { description, examples, ask }: StatusCommand,
  { run, shared, output }: CommandTools,
): void {
  targetCommand(parent, 'status', target, examples)
    .description(description)
    .action(
      async (name: string) =>
        await run(async (loaded) => {
          const answer = await withWorkflow(
            loaded,
            target,
            name,
            async (handle, client) => await ask(handle, { ...loaded, client }),
          );
          if (shared().output === 'json') output.json(answer.json);
          else output.line(answer.text);
        }),
    );
}

export function addOperatorCommand(
  parent: Command,
  target: TargetForm,
  { name, description, examples, update, addOptions, input, prepare }: OperatorCommand,
  { run, shared, io, output }: CommandTools,
): void {
  const command = addWhoAndWhy(targetCommand(parent, name, target, examples).description(description));
  addOptions?.(command);
  command.action(async (named: string, options: WhoAndWhy & Readonly<Record<string, unknown>>) => {
    const { by = userName(io.env), reason = '' } = options;
    const given = { by, reason, ...checkedBy(command, () => input?.(options) ?? {}) };
    await run(async (loaded) => {
      const prepared: Prepared =
        prepare === undefined
          ? { input: given, notes: [], isInVain: false }
          : await withWorkflow(
              loaded,
              target,
              named,
              async (workflow) => await prepare({ loaded, target: named, workflow, given }),
            );
      const { instead, input: sent, notes, isInVain } = prepared;
      const answered = await withWorkflow(
        loaded,
        target,
        named,
        async (handle) => await handle.executeUpdate<string, [object]>(instead?.update ?? update, { args: [sent] }),
        instead?.update ?? update,
      );
      const answer = instead === undefined ? answered : `${instead.done}. ${sentence(answered)}`;
      for (const note of notes) output.note(note);
      if (isInVain) output.endWith(exitCodes.failed);
      if (shared().output === 'json') output.json({ command: update, answer });
      else output.line(withRelativeTimes(sentence(answer), Date.now()));
    });
  });
}

/** What is wrong with arguments together ends the command as what is wrong with one of them does. */
export function checkedBy<T>(command: Command, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: ${error.message}`, { exitCode: exitCodes.configuration });
  }
}

/** Calls the workflow of a target; a missing workflow, a rejection and a missing worker become sentences. */
async function withWorkflow<T>(
  loaded: LoadedConfig,
  target: TargetForm,
  name: string,
  ask: (handle: WorkflowHandle, client: Client) => Promise<T>,
  change: string | null = null,
): Promise<T> {
  const cluster = loaded.config.kubernetes.clusterName;
  return await withClient(
    loaded.config,
    async (client) =>
      await answered(
        client,
        cluster,
        async () => await target.whyNothingRuns(loaded, name),
        async () => await ask(client.workflow.getHandle(target.workflowId(cluster, name)), client),
      ),
    change,
  );
}
