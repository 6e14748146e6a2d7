/** Commands to the workflow of one target: where it is, and what people tell it. Each controller says what differs. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { type Command, InvalidArgumentError } from 'commander';
import { sentence } from '../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../domain/kernel/time.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import type { Config } from '../config.ts';
import { withClient } from './connection.ts';
import type { CommandTools, OperatorCommand, StatusCommand, TargetForm } from './controller.ts';
import { answered, print, type SharedOptions, userName } from './shared.ts';

/** What every command that changes something takes. */
export interface WhoAndWhy {
  readonly by?: string;
  readonly reason?: string;
}

export function addWhoAndWhy(command: Command): Command {
  return command
    .option('--by <name>', 'who gives the command (default: your user name)')
    .option('--reason <text>', 'why you give the command; it is kept, and everybody who asks is shown it');
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
  { run, shared }: CommandTools,
): void {
  targetCommand(parent, 'status', target, examples)
    .description(description)
    .action(
      async (name: string) =>
        await run(async (config, sources) => {
          const answer = await withWorkflow(
            config,
            target,
            name,
            async (handle, client) => await ask(handle, { client, config, sources }),
          );
          if (shared().output === 'json') print(answer.json);
          else console.log(answer.text);
        }),
    );
}

export function addOperatorCommand(
  parent: Command,
  target: TargetForm,
  { name, description, examples, update, addOptions, input }: OperatorCommand,
  { run, shared }: CommandTools,
): void {
  const command = addWhoAndWhy(targetCommand(parent, name, target, examples).description(description));
  addOptions?.(command);
  command.action(async (named: string, options: WhoAndWhy & Readonly<Record<string, unknown>>) => {
    const { by = userName(), reason = '' } = options;
    const given = { by, reason, ...checkedBy(command, () => input?.(options) ?? {}) };
    await run(async (config) => await sendCommand(config, target, named, { update, given }, shared()));
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

async function sendCommand(
  config: Config,
  target: TargetForm,
  name: string,
  { update, given }: { readonly update: string; readonly given: object },
  { output }: SharedOptions,
): Promise<void> {
  const answer = await withWorkflow(
    config,
    target,
    name,
    async (handle) => await handle.executeUpdate<string, [object]>(update, { args: [given] }),
  );
  if (output === 'json') print({ command: update, answer });
  else console.log(withRelativeTimes(sentence(answer), Date.now()));
}

/** Calls the workflow of a target; a missing workflow, a rejection and a missing worker become sentences. */
async function withWorkflow<T>(
  config: Config,
  target: TargetForm,
  name: string,
  ask: (handle: WorkflowHandle, client: Client) => Promise<T>,
): Promise<T> {
  const cluster = config.kubernetes.clusterName;
  return await withClient(
    config,
    async (client) =>
      await answered(
        client,
        cluster,
        async () => await target.whyNothingRuns(config, name),
        async () => await ask(client.workflow.getHandle(target.workflowId(cluster, name)), client),
      ),
  );
}
