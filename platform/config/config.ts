import { readFileSync } from 'node:fs';
import { type ControllerName, controllerNames, pairNames, pairOf } from '../../domain/kernel/controllers.ts';
import type { Secret } from '../../domain/kernel/settings/secret.ts';
import type { TemporalUi } from '../../domain/kernel/temporal-ui.ts';
import { NO_REASON } from '../../domain/kernel/settings/forms.ts';
import type {
  ConfigProblem,
  ProgramName,
  ReportedSetting,
  SettingsDefinition,
  SettingSources,
  WrittenValue,
} from '../../domain/kernel/settings/setting.ts';
import { readAuthorities } from '../network/authorities.ts';
import type { Network } from '../network/network.ts';
import { readProxies } from '../network/proxies.ts';
import { readTracing, type TracingTarget } from '../tracing/target.ts';
import { resolveTemporal } from '../temporal/temporal-profile.ts';
import type { TemporalTarget } from '../temporal/temporal-target.ts';
import { closest } from './closest.ts';
import { readCommandLine } from './command-line.ts';
import { readConfigFile } from './config-file.ts';
import { ConfigError } from './config-problem.ts';
import {
  configFileSetting,
  constantRefusal,
  isSetting,
  type SettingEntry,
  entriesOf,
  platformSettings,
  platformTitles,
  type PlatformValues,
} from './settings.ts';

/** Texts of constants by their path, such as `{ 'timings.syncPoll': '200ms' }`. */
export type Constants = Readonly<Record<string, string>>;

/** The sources of the configuration; a process passes its own environment and arguments. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The arguments after the program's own name. */
  readonly argv: readonly string[];
  /** The program; settings that only other programs require are optional. Default: the worker. */
  readonly program?: ProgramName;
  /**
   * The settings that a worker reported, by path. If given, they take precedence over this process's environment and
   * file, but not over its flags.
   */
  readonly reported?: ReadonlyMap<string, ReportedSetting>;
  /** Other values of constants, by path, as whoever runs a program by code may give them. */
  readonly constants?: Constants;
  /** @throws the file system's error when the file cannot be read. */
  readonly readFile?: (path: string) => string;
}

/** Where a value was written, without the value, which may be a secret. */
type Origin = Pick<WrittenValue, 'where' | 'layer'> & Partial<Pick<ReportedSetting, 'reportedBy'>>;

/** The configuration of every process: parsed values, durations in milliseconds. */
export interface PlatformConfig extends Omit<PlatformValues, 'temporal' | 'network'> {
  readonly network: Network;
  readonly temporal: TemporalTarget;
  /** Where spans are sent; null: nothing is traced. */
  readonly tracing: TracingTarget | null;
  /** The controllers that this process is there for: all, or those that its arguments name. */
  readonly runs: ReadonlySet<ControllerName>;
  /** The URL of the Temporal UI and the namespace of the workflows; null when not configured. */
  readonly temporalUi: TemporalUi | null;
  /** All secrets of this process, which are redacted from its log. */
  readonly secrets: readonly Secret<string | readonly string[]>[];
  /** Where each setting was written, by its path; settings with their default value are absent. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The settings that decisions depend on, by path, as this process reports them. There is no secret among them. */
  readonly reported: ReadonlyMap<string, WrittenValue>;
  /** Notices about this configuration, sentences that are logged at start. */
  readonly notices: readonly string[];
}

/** The settings of controllers, and the type of what they give to the configuration together. */
export type ControllerSettings<Values extends object = object> = Readonly<Record<string, SettingsDefinition>> & {
  readonly [VALUES]?: Values;
};
declare const VALUES: unique symbol;

/** Every setting of the processes and of these controllers, in the order of the documentation. */
export function allSettings(controllers: ControllerSettings): readonly SettingEntry[] {
  return allEntries(controllers).filter(isSetting);
}

/** What is a constant, in the same order. */
export function allConstants(controllers: ControllerSettings): readonly SettingEntry[] {
  return allEntries(controllers).filter((entry) => !isSetting(entry));
}

function allEntries(controllers: ControllerSettings): readonly SettingEntry[] {
  return entriesOf([ownDefinition, ...Object.values(controllers)]);
}

/** The heading of each group of settings. */
export function settingTitles(controllers: ControllerSettings): Readonly<Record<string, string>> {
  return Object.assign({}, platformTitles, ...Object.values(controllers).map(({ titles }) => titles));
}

const ownDefinition: SettingsDefinition = {
  groups: platformSettings,
  titles: platformTitles,
  // The namespace of the Leases and the pauses.
  reported: ['kubernetes.systemNamespace', 'kubernetes.writePolicy'],
  resolve: () => ({}),
};

/**
 * The configuration from its four layers, each above the one before: built-in defaults, the YAML file, the environment,
 * the flags. An empty environment variable counts as absent.
 *
 * @param controllers the settings of every controller; each adds its part.
 * @throws {ConfigError} with every problem that was found.
 */
export function loadConfig<Values extends object>(
  controllers: ControllerSettings<Values>,
  sources: ConfigSources,
): PlatformConfig & Values {
  const { env, program = 'worker', constants = {} } = sources;
  const readFile = sources.readFile ?? ((path: string) => readFileSync(path, 'utf8'));
  const entry = allEntries(controllers);
  assertConstants(constants, entry);
  const problems: ConfigProblem[] = [];
  const notices: string[] = misspelledVariables(env, entry);

  const { written, words } = readLayers(sources, entry, readFile, problems);
  const runs = readRuns(words, program, problems);
  const inPod = Boolean(env['KUBERNETES_SERVICE_HOST']);
  const values = readValues(written, entry, { program, inPod, problems, constants });
  const own = values as unknown as PlatformValues;
  const network = resolveNetwork(own.network, { written, env, readFile, problems, notices });
  const temporal = resolveTemporal(own.temporal, { written, env, readFile, problems, network });
  const parts = Object.values(controllers).map(({ resolve }) =>
    resolve(values, { program, runs, written, readFile, problems, notices }),
  );
  if (problems.length > 0 || temporal === undefined) throw new ConfigError(problems);

  const { uiUrl } = own.temporal;
  const tracing = readTracing(env, notices);
  const platform: PlatformConfig = {
    kubernetes: own.kubernetes,
    network,
    temporal,
    tracing,
    runs,
    temporalUi: uiUrl === undefined ? null : { url: uiUrl, namespace: temporal.namespace },
    timings: own.timings,
    worker: own.worker,
    starter: own.starter,
    overview: own.overview,
    process: own.process,
    secrets: [...network.proxies.secrets, ...temporal.secrets, ...(tracing === null ? [] : [tracing.secret])],
    origins: new Map([...written].map(([path, value]) => [path, originOf(value)])),
    reported: new Map(
      entry.filter(({ isReported }) => isReported).flatMap((setting) => effective(setting, written, inPod)),
    ),
    notices,
  };
  return parts.reduce(joined, platform) as PlatformConfig & Values;
}

function resolveNetwork(
  { caFile }: PlatformValues['network'],
  {
    written,
    env,
    readFile,
    problems,
    notices,
  }: Omit<SettingSources, 'program' | 'runs'> & { readonly env: ConfigSources['env'] },
): Network {
  const where = written.get('network.caFile')?.where ?? 'network.caFile';
  const authoritiesFile = caFile === undefined ? null : { where, path: caFile };
  const authorities = authoritiesFile === null ? null : readAuthorities(authoritiesFile, readFile, problems);
  return { proxies: readProxies(env, problems, notices), authorities: authorities ?? null, authoritiesFile };
}

function originOf({ text: _text, ...origin }: WrittenValue): Origin {
  return origin;
}

/** The value of a setting in text form; undefined when it is absent. */
function effective(
  { path, setting }: SettingEntry,
  written: Written,
  inPod: boolean,
): readonly (readonly [string, WrittenValue])[] {
  const text = (inPod ? setting.podDefault : undefined) ?? setting.default;
  const value = written.get(path) ?? (text === undefined ? undefined : { text, where: path, layer: 'default' });
  return value === undefined ? [] : [[path, value]];
}

/** Merges two configurations: groups of both have the keys of both, and lists are concatenated. */
function joined(first: object, second: object): object {
  const all: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const before = all[name];
    if (Array.isArray(before) && Array.isArray(value)) all[name] = [...before, ...value];
    else all[name] = isGroup(before) && isGroup(value) ? { ...before, ...value } : value;
  }
  return all;
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** For each setting, by its path, what the user wrote in the highest layer that names it. */
type Written = ReadonlyMap<string, WrittenValue | ReportedSetting>;

function readLayers(
  { env, argv, reported }: ConfigSources,
  settingEntries: readonly SettingEntry[],
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): { readonly written: Written; readonly words: readonly string[] } {
  const commandLine = readCommandLine(argv, settingEntries);
  const configFile = commandLine.values.get(configFileSetting.flag) ?? fromEnvironment(env, configFileSetting.env);
  const file = configFile === undefined ? undefined : readNamedFile(configFile, settingEntries, readFile, problems);
  problems.push(...(file?.problems ?? []), ...commandLine.problems);

  const written = new Map<string, WrittenValue>();
  for (const { path, setting, isReported } of settingEntries) {
    if (setting.constant !== undefined) {
      if (fromEnvironment(env, setting.env) !== undefined)
        problems.push({ where: setting.env, message: constantRefusal(setting) });
      continue;
    }
    const ofProcess = (): WrittenValue | undefined => fromEnvironment(env, setting.env) ?? file?.values.get(path);
    const value =
      (setting.flag === undefined ? undefined : commandLine.values.get(setting.flag)) ??
      (reported !== undefined && isReported ? reported.get(path) : ofProcess());
    if (value !== undefined) written.set(path, value);
  }
  return { written, words: commandLine.words };
}

/** Worker and starter take the names of controllers: the others run in processes of their own. */
function readRuns(
  words: readonly string[],
  program: ProgramName,
  problems: ConfigProblem[],
): ReadonlySet<ControllerName> {
  const named = program === 'worker' || program === 'starter' ? pairNames.filter((pair) => words.includes(pair)) : [];
  const all = 'is not a flag: every setting is given as --flag value';
  const message =
    program === 'worker' || program === 'starter'
      ? `${all}; nor a controller that may have a ${program} of its own: those are ${pairNames.join(', ')}`
      : all;
  for (const word of words.filter((each) => !named.some((pair) => pair === each))) {
    problems.push({ where: `"${word}"`, message });
  }
  return new Set(controllerNames.filter((name) => named.length === 0 || named.includes(pairOf(name))));
}

function fromEnvironment(env: ConfigSources['env'], name: string): WrittenValue | undefined {
  const text = env[name];
  return text === undefined || text === '' ? undefined : { text, where: name, layer: 'environment' };
}

function readNamedFile(
  file: WrittenValue,
  settingEntries: readonly SettingEntry[],
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): ReturnType<typeof readConfigFile> | undefined {
  try {
    return readConfigFile(readFile(file.text), file.text, settingEntries);
  } catch (error) {
    problems.push({ where: file.where, message: `cannot read "${file.text}": ${reasonOf(error)}` });
    return undefined;
  }
}

/**
 * The values of all settings. Invalid ones are omitted and reported; later checks use the valid ones, so that all
 * problems are reported at once.
 */
function readValues(
  written: Written,
  settingEntries: readonly SettingEntry[],
  {
    program,
    inPod,
    problems,
    constants,
  }: { program: ProgramName; inPod: boolean; problems: ConfigProblem[]; constants: Constants },
): Record<string, Record<string, unknown>> {
  const values: Record<string, Record<string, unknown>> = {};
  for (const entry of settingEntries) {
    const { group, key, path, setting } = entry;
    const inGroup = (values[group] ??= {});
    const choice = written.get(path);
    const text = choice?.text ?? constants[path] ?? (inPod ? setting.podDefault : undefined) ?? setting.default;
    if (text === undefined) {
      if (setting.required === true)
        problems.push({ where: namesOf(entry), message: `is required: expected ${setting.expected}` });
      continue;
    }
    const result = setting.type.safeParse(text);
    if (
      result.success &&
      program === 'all-in-one' &&
      setting.isForWebhooks === true &&
      choice !== undefined &&
      result.data !== false
    )
      problems.push({
        where: choice.where,
        message:
          'is not for worker and starter in one process, which takes no webhooks: leave it out, or run them apart',
      });
    else if (result.success) inGroup[key] = result.data;
    else problems.push(badValue(entry, choice, text, result.error.issues));
  }
  return values;
}

/** @throws {Error} for what is no constant: a mistake in code. */
function assertConstants(constants: Constants, entries: readonly SettingEntry[]): void {
  const existing = new Set(entries.filter((entry) => !isSetting(entry)).map(({ path }) => path));
  const unknown = Object.keys(constants).filter((path) => !existing.has(path));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: not a constant`);
}

/** All the names that a setting has, for one that is missing. */
function namesOf({ path, setting }: SettingEntry): string {
  return [setting.env, setting.flag, setting.secret === true ? undefined : `${path} in the file`]
    .filter((name) => name !== undefined)
    .join(', ');
}

function badValue(
  { setting }: SettingEntry,
  choice: WrittenValue | undefined,
  text: string,
  issues: readonly { readonly code?: string | undefined; readonly message: string }[],
): ConfigProblem {
  const shown =
    setting.secret === true ? 'the value' : JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
  // A custom parser says what exactly is wrong; the table says what would be valid.
  const reason = issues.find((issue) => issue.code === 'custom' && issue.message !== NO_REASON)?.message;
  return {
    where: choice === undefined ? 'default' : `${choice.where} (${choice.layer})`,
    message: `${shown} is not valid: expected ${setting.expected}${reason === undefined ? '' : ` (${reason})`}`,
  };
}

/**
 * Variables that begin with HEADROOM_ and resemble a setting's. Not an error: in a pod, Kubernetes sets variables such
 * as HEADROOM_WORKER_SERVICE_HOST for a Service.
 */
function misspelledVariables(env: ConfigSources['env'], settingEntries: readonly SettingEntry[]): string[] {
  const existing = [configFileSetting.env, ...settingEntries.filter(isSetting).map(({ setting }) => setting.env)];
  const constants = new Set(settingEntries.filter((entry) => !isSetting(entry)).map(({ setting }) => setting.env));
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('HEADROOM_') || existing.includes(name) || constants.has(name)) return [];
    const nearest = closest(name, existing);
    return nearest === undefined ? [] : [`The environment variable ${name} is not a setting: did you mean ${nearest}?`];
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
