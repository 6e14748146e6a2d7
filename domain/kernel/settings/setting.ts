import type { z } from 'zod';

/**
 * One setting of the processes. Reading, `--help` and the table in the documentation all come from this; its path in
 * the configuration file is `<group>.<key>` of its place in a definition.
 */
export interface Setting<Output = unknown> {
  /** From the text that the user wrote, in whichever layer, to the value. */
  readonly type: z.ZodType<Output, string>;
  /** What is right, as the end of a sentence that begins with "expected". */
  readonly expected: string;
  readonly description: string;
  readonly env: string;
  /** With its dashes. A secret has none: command lines are visible to every user of a machine. */
  readonly flag?: `--${string}`;
  /** As the user would write it. A setting without a default may be absent, unless it is `required`. */
  readonly default?: string;
  /** The default inside a pod, where it differs. */
  readonly podDefault?: string;
  readonly required?: true;
  /** Taken from the environment only, and never shown. */
  readonly secret?: true;
  /** The flag alone, without a value, means `true`. */
  readonly isSwitch?: true;
  /** Several values: separated by commas, in the file a list as well. */
  readonly isList?: true;
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

export type ProgramName = 'worker' | 'starter' | 'command line';

/** What is known where settings are checked against each other. */
export interface SettingSources {
  readonly program: ProgramName;
  /** For each setting, by its path, what the user wrote in the highest layer that names it. */
  readonly written: ReadonlyMap<string, WrittenValue>;
  readonly readFile: (path: string) => string;
  /** Gets what is wrong. */
  readonly problems: ConfigProblem[];
  /** Gets what an operator should know: sentences to log at the start. */
  readonly notices: string[];
}

/** The settings of one controller, or of the processes. */
export interface SettingsDefinition<Values extends object = object> {
  readonly groups: SettingGroups;
  /** The heading of each group in the documentation; none for a group that another definition has begun. */
  readonly titles: Readonly<Record<string, string>>;
  /**
   * Groups, or paths of single settings, that a worker reports to the command line, because decisions depend on them.
   * A secret is never reported, whatever stands here.
   */
  readonly reported: readonly string[];
  /**
   * Its part of the configuration, from the values of all settings. One that is wrong is absent, and has its problem
   * already: what comes back is used only where there is none.
   */
  readonly resolve: (
    values: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    sources: SettingSources,
  ) => Values;
}

/** The values of groups of settings. */
export type GroupValues<Groups extends SettingGroups> = { readonly [Group in keyof Groups]: ValuesOf<Groups[Group]> };

/**
 * The definition of settings that need no more than to be read each.
 */
export function defineSettings<const Groups extends SettingGroups>(
  titles: Readonly<Record<string, string>>,
  groups: Groups,
  reported: readonly string[],
): SettingsDefinition<GroupValues<Groups>>;
/** @param resolve checks values against each other, and makes of them what the controller uses. */
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
