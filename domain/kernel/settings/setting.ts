import type { z } from 'zod';
import type { ControllerName } from '../controllers.ts';

/**
 * One setting of the processes. Parsing, `--help` and the table in the documentation are derived from it; its path in
 * the configuration file is `<group>.<key>` by its place in a definition.
 */
export interface Setting<Output = unknown> {
  /** From the text that the user wrote, in whichever layer, to the value. */
  readonly type: z.ZodType<Output, string>;
  /** What is valid, as the end of a sentence that begins with "expected". */
  readonly expected: string;
  readonly description: string;
  readonly env: string;
  /** With its dashes. A secret has no flag, because command lines are visible to every user of a machine. */
  readonly flag?: `--${string}`;
  /** As a user would write it. A setting without a default may be absent, unless it is `required`. */
  readonly default?: string;
  /** The default inside a pod, where it differs. */
  readonly podDefault?: string;
  readonly required?: true;
  /** Taken from the environment only, and never shown. */
  readonly secret?: true;
  /** The flag alone, without a value, means `true`. */
  readonly isSwitch?: true;
  /** Several values separated by commas; in the file, a list is possible too. */
  readonly isList?: true;
  /** The form of each of several values, from `^` to `$`, where each of them has one. */
  readonly entries?: RegExp;
  /** A list of maps in the file, which its type gets as JSON, as in the environment. */
  readonly isStructured?: true;
  /** For webhooks, which `all-in-one` does not take. */
  readonly isForWebhooks?: true;
  /**
   * Nobody may set it. It has its place in the configuration as a setting has, so that whoever runs a program by code,
   * as tests do, can give another value; a user who sets it is told its value.
   */
  readonly constant?: ConstantReason;
}

interface ConstantReason {
  /** Why nobody would turn it, a sentence. */
  readonly why: string;
  /** What it is, in words, where it has no default. */
  readonly value?: string;
}

/** Settings by their key. */
export type Settings = Readonly<Record<string, Setting>>;

type ValueOf<S> = S extends { readonly type: z.ZodType<infer Output, string> }
  ? S extends { readonly default: string } | { readonly required: true }
    ? Output
    : Output | undefined
  : never;

/** The values of settings, by key. */
export type ValuesOf<S extends Settings> = { readonly [Key in keyof S]: ValueOf<S[Key]> };

/** Settings by their group, which is the first part of their path in the configuration file. */
export type SettingGroups = Readonly<Record<string, Settings>>;

/** A value as a user wrote it, and where. */
export interface WrittenValue {
  readonly text: string;
  /** The name that the user used: the environment variable, the flag, or the path in the file. */
  readonly where: string;
  /** `environment`, `command line`, or the file with its line. */
  readonly layer: string;
}

/** A setting as a worker reported it. */
export interface ReportedSetting extends WrittenValue {
  /** `default` where nobody wrote it. */
  readonly layer: string;
  readonly reportedBy: 'worker';
}

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** The name that the user used, with its layer where the name does not tell it. */
  readonly where: string;
  readonly message: string;
}

/** `all-in-one` is worker and starter in one process. */
export type ProgramName = 'worker' | 'starter' | 'all-in-one' | 'command line';

/** The input for checking settings against each other. */
export interface SettingSources {
  readonly program: ProgramName;
  /** The controllers that the process is there for. */
  readonly runs: ReadonlySet<ControllerName>;
  /** For each setting, by its path, what the user wrote in the highest layer that names it. */
  readonly written: ReadonlyMap<string, WrittenValue>;
  readonly readFile: (path: string) => string;
  /** Receives the problems that are found. */
  readonly problems: ConfigProblem[];
  /** Receives notices for operators, sentences that are logged at start. */
  readonly notices: string[];
}

/** The settings of one controller, or of the processes. */
export interface SettingsDefinition<Values extends object = object> {
  readonly groups: SettingGroups;
  /** The headings of the groups in the documentation; none for a group of another definition. */
  readonly titles: Readonly<Record<string, string>>;
  /**
   * Groups, or paths of single settings, that a worker reports to the command line because decisions depend on them.
   * Secrets are never reported.
   */
  readonly reported: readonly string[];
  /**
   * Its part of the configuration, from the values of all settings. An invalid value is absent and already has its
   * problem; the result is used only if there are no problems.
   */
  readonly resolve: (
    values: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    sources: SettingSources,
  ) => Values;
}

/** The values of groups of settings. */
export type GroupValues<Groups extends SettingGroups> = { readonly [Group in keyof Groups]: ValuesOf<Groups[Group]> };

/** Defines settings that need no check against each other. */
export function defineSettings<const Groups extends SettingGroups>(
  titles: Readonly<Record<string, string>>,
  groups: Groups,
  reported: readonly string[],
): SettingsDefinition<GroupValues<Groups>>;
/** @param resolve checks values against each other and returns the controller's configuration. */
export function defineSettings<const Groups extends SettingGroups, Values extends object>(
  titles: Readonly<Record<string, string>>,
  groups: Groups,
  reported: readonly string[],
  resolve: (values: GroupValues<Groups>, sources: SettingSources) => Values,
): SettingsDefinition<Values>;
export function defineSettings(
  titles: Readonly<Record<string, string>>,
  groups: SettingGroups,
  reported: readonly string[],
  resolve: SettingsDefinition['resolve'] = (values) =>
    Object.fromEntries(Object.keys(groups).map((group) => [group, values[group]])),
): SettingsDefinition {
  return { titles, groups, reported, resolve };
}

/** What a definition gives to the configuration. */
export type ConfigOf<Definition> = Definition extends SettingsDefinition<infer Values> ? Values : never;
