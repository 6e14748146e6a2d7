/** What each controller brings to the command line. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Command } from 'commander';
import type { ConfigSources } from '../../platform/config/config.ts';
import type { Config } from '../config.ts';
import type { CommandIo, Output } from './output.ts';
import type { SharedOptions } from './shared.ts';

/** A controller as the command line knows it. */
export interface CommandLineController {
  /** What its commands `headroom <controller> …` are about. Without it they are commands of `headroom` itself. */
  readonly group?: string;
  /** What stands for `<controller>` in these commands, where it is another word than the controller's name. */
  readonly groupName?: string;
  /** The kind of target of its workflows. Absent when users cannot name one. */
  readonly target?: TargetForm;
  /** Asks a workflow where it is. */
  readonly status?: StatusCommand;
  /** What people may tell a workflow; besides pause and resume, which every target has. */
  readonly operatorCommands?: readonly OperatorCommand[];
  /** Why its pause is not in a ConfigMap: the error for such an argument. */
  readonly pausedOtherwise?: string;
  /** Adds what is its own, to its group or to `headroom`. */
  readonly addCommands?: (parent: Command, tools: CommandTools) => void;
  /** Makes a command `headroom explain <controller>`. */
  readonly explain?: (command: Command, tools: CommandTools) => void;
}

/** How people name what a workflow is about. */
export interface TargetForm {
  /** In `--help`: `<namespace/quota>`. */
  readonly argument: string;
  readonly description: string;
  /** Whether a text is such a name. */
  readonly isTarget: (text: string) => boolean;
  /** What a right name is, as the end of "… is not": `<namespace>/<quota>, such as team-a/compute`. */
  readonly expected: string;
  readonly workflowId: (cluster: string, target: string) => string;
  /** The error for a target without a running workflow. */
  readonly whyNothingRuns: (loaded: LoadedConfig, target: string) => Error | Promise<Error>;
  /** Checks that a target exists before it is paused. @throws {UnknownName} when it does not. */
  readonly assertExists?: (loaded: LoadedConfig, target: string) => Promise<void>;
}

/** An answer in both forms that `--output` may ask for. */
interface Answer {
  readonly json: unknown;
  /** Ends without a line break. */
  readonly text: string;
}

export interface StatusCommand {
  readonly description: string;
  readonly examples?: readonly string[];
  readonly ask: (workflow: WorkflowHandle, context: StatusContext) => Promise<Answer>;
}

interface StatusContext extends LoadedConfig {
  readonly client: Client;
}

/** One update of the workflow, as a command. */
export interface OperatorCommand {
  readonly name: string;
  readonly description: string;
  readonly examples?: readonly string[];
  /** The name of the update. */
  readonly update: string;
  /** Options besides who says so and why. */
  readonly addOptions?: (command: Command) => void;
  /** What the update is given of these options. @throws {InvalidArgumentError} where they contradict each other. */
  readonly input?: (options: Readonly<Record<string, unknown>>) => object;
  /** What is done before the update is sent, with the rights of whoever gives the command. */
  readonly prepare?: (command: {
    readonly loaded: LoadedConfig;
    readonly target: string;
    readonly workflow: WorkflowHandle;
    readonly given: { readonly by: string; readonly reason: string };
  }) => Promise<Prepared>;
}

/** An update that is ready to be sent. */
export interface Prepared {
  /** Another update than the command's own, whose answer follows what was done already. */
  readonly instead?: { readonly update: string; readonly done: string };
  readonly input: object;
  /** Sentences on standard error. */
  readonly notes: readonly string[];
  /** Whether the command cannot have the effect that is wanted of it: it then ends as a failed one. */
  readonly isInVain: boolean;
}

/** The configuration of a command, with what it was loaded from. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
}

export interface CommandTools {
  readonly io: CommandIo;
  readonly output: Output;
  /**
   * Runs a command with the configuration; an error that the user can fix is printed as one sentence on standard error.
   *
   * @param argv settings as flags, besides those that all commands have.
   */
  readonly run: (command: (loaded: LoadedConfig) => Promise<void>, argv?: readonly string[]) => Promise<void>;
  /** The same for a command that needs no configuration. */
  readonly runAlone: (command: () => void | Promise<void>) => Promise<void>;
  /** The options that all commands have. */
  readonly shared: () => SharedOptions;
}
