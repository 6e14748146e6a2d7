import { readFileSync } from 'node:fs';
import { type BudgetLimits, budgetLimits } from '../../domain/github-budget/limits.ts';
import type { RepositoryName } from '../../activities/forge/repositories.ts';
import type { PathTemplate } from '../../domain/quota-resize/git/locate/path-template.ts';
import type { PolicyDefaults } from '../../domain/quota-resize/policy/policy.ts';
import { closest } from './closest.ts';
import { readCommandLine } from './command-line.ts';
import { readConfigFile } from './config-file.ts';
import { ConfigError, type ConfigProblem, type WrittenValue } from './config-problem.ts';
import { type GitHubCredential, namesCredential, readGitHubCredential, secretsOf } from './github-credential.ts';
import type { Secret } from './secret.ts';
import {
  configFileSetting,
  NO_REASON,
  type PlacedSetting,
  placedSettings,
  type SettingValues,
  settings,
} from './settings.ts';
import { resolveTemporal, type TemporalTarget } from '../temporal/temporal-profile.ts';
import { resolveWebhooks, type Webhooks } from './webhooks.ts';

/** Where the configuration comes from; a process passes its own environment and arguments. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The arguments after the program's own name. */
  readonly argv: readonly string[];
  /** Whether this process writes to GitHub: only then a repository is required for proposing. Default: true. */
  readonly writesToGitHub?: boolean;
  /** Whether this process takes GitHub's webhooks: only then their secret is read. Default: false. */
  readonly takesWebhooks?: boolean;
  /** @throws the file system's error when the file cannot be read. */
  readonly readFile?: (path: string) => string;
}

/** The GitOps repository and the right to use it. */
interface GitHubTarget {
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
  /** The repository's default branch when absent. */
  readonly baseBranch: string | undefined;
  /** Every repository that may be changed; the first one is that of owner and repo. */
  readonly repositories: readonly RepositoryName[];
  readonly credential: GitHubCredential;
}

/** Where a value was written, without the value: it may be a secret. */
type Origin = Pick<WrittenValue, 'where' | 'layer'>;

/** The configuration of a process: true values, durations in milliseconds. */
export interface Config extends Omit<SettingValues, 'temporal' | 'github' | 'githubBudget' | 'webhooks'> {
  readonly temporal: TemporalTarget;
  /** Absent while owner, repository or token are not set, which is enough for observing. */
  readonly github: GitHubTarget | undefined;
  readonly webhooks: Webhooks;
  /** Every secret that this process was given, to be kept out of its log. */
  readonly secrets: readonly Secret<string | readonly string[]>[];
  /** Where Temporal's UI is, with the namespace of the workflows; null where nobody said it. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** The repositories as far as they are named, also for a process that has no credential for them. */
  readonly gitOps: { readonly apiUrl: string; readonly repositories: readonly RepositoryName[] };
  /** Where a namespace's manifests are in the repository, unless an annotation says otherwise. */
  readonly gitPathTemplate: PathTemplate;
  /** How many writes to GitHub are allowed; as every worker with the same credential is to have it. */
  readonly githubBudget: BudgetLimits;
  /** Where each setting was written, by its path; a setting that nobody wrote has its default and is not here. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** What an operator should know about this configuration: sentences to log at the start. */
  readonly notices: readonly string[];
}

/**
 * The configuration from its four layers, each above the one before: built-in defaults, the YAML file, the environment,
 * the flags. An empty environment variable counts as absent.
 *
 * @throws {ConfigError} with every problem that was found.
 */
export function loadConfig(sources: ConfigSources): Config {
  const { env } = sources;
  const readFile = sources.readFile ?? ((path: string) => readFileSync(path, 'utf8'));
  const problems: ConfigProblem[] = [];
  const notices: string[] = misspelledVariables(env);

  const written = readLayers(sources, readFile, problems);
  const values = readValues(written, Boolean(env['KUBERNETES_SERVICE_HOST']), problems);
  const temporal = resolveTemporal(values.temporal, written, env, readFile, problems);
  const writesToGitHub = sources.writesToGitHub ?? true;
  const github = writesToGitHub ? resolveGitHub(values, written, readFile, problems, notices) : undefined;
  const takes = sources.takesWebhooks ?? false;
  const webhooks = resolveWebhooks(values.webhooks, { written, readFile, takes, problems });
  checkChecksPoll(values.timings, written, problems);
  if (problems.length > 0 || temporal === undefined) throw new ConfigError(problems);

  const { kubernetes, resize, timings, quotaUsage, lightsOut, worker, starter, process } = values;
  if (resize.dryRun && resize.mode === 'propose') {
    notices.push(`${written.get('resize.dryRun')?.where} wins over mode "propose": Headroom only observes.`);
  }
  return {
    kubernetes,
    temporal,
    github,
    webhooks,
    secrets: [
      ...(github === undefined ? [] : secretsOf(github.credential)),
      ...(webhooks.secrets === undefined ? [] : [webhooks.secrets]),
    ],
    temporalUi:
      values.temporal.uiUrl === undefined ? null : { url: values.temporal.uiUrl, namespace: temporal.namespace },
    pullRequest: values.pullRequest,
    gitOps: { apiUrl: values.github.apiUrl, repositories: repositoriesOf(values.github) },
    gitPathTemplate: values.github.pathTemplate,
    githubBudget: budgetLimits({
      perMinute: values.githubBudget.writesPerMinute,
      perHour: values.githubBudget.writesPerHour,
      minuteMs: values.githubBudget.minute,
      spacingMs: values.timings.githubWriteSpacing,
    }),
    resize: { ...resize, mode: resize.dryRun ? 'observe' : resize.mode },
    timings,
    quotaUsage,
    lightsOut,
    worker,
    starter,
    process,
    origins: new Map([...written].map(([path, { where, layer }]) => [path, { where, layer }])),
    notices,
  };
}

/** The lowest layer of every quota's policy; the annotations of its namespace and its own go above it. */
export function policyDefaults(config: Config): PolicyDefaults {
  const { freezeUntil, ...settings } = config.resize;
  return { ...settings, freezeUntil: freezeUntil ?? null, rejectionCooldown: config.timings.rejectionCooldown };
}

/** For each setting, by its path, what the user wrote in the highest layer that names it. */
type Written = ReadonlyMap<string, WrittenValue>;

function readLayers(
  { env, argv }: ConfigSources,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): Written {
  const commandLine = readCommandLine(argv);
  const configFile = commandLine.values.get(configFileSetting.flag) ?? fromEnvironment(env, configFileSetting.env);
  const file = configFile === undefined ? undefined : readNamedFile(configFile, readFile, problems);
  problems.push(...(file?.problems ?? []), ...commandLine.problems);

  const written = new Map<string, WrittenValue>();
  for (const { path, setting } of placedSettings) {
    const value =
      (setting.flag === undefined ? undefined : commandLine.values.get(setting.flag)) ??
      fromEnvironment(env, setting.env) ??
      file?.values.get(path);
    if (value !== undefined) written.set(path, value);
  }
  return written;
}

function fromEnvironment(env: ConfigSources['env'], name: string): WrittenValue | undefined {
  const text = env[name];
  return text === undefined || text === '' ? undefined : { text, where: name, layer: 'environment' };
}

function readNamedFile(
  file: WrittenValue,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): ReturnType<typeof readConfigFile> | undefined {
  try {
    return readConfigFile(readFile(file.text), file.text);
  } catch (error) {
    problems.push({ where: file.where, message: `cannot read "${file.text}": ${reasonOf(error)}` });
    return undefined;
  }
}

/**
 * Every setting's value. One with a problem is left out, so the result is only true when no problem was added; the
 * checks that come after look at what is there, so that all problems are reported at once.
 */
function readValues(written: Written, inPod: boolean, problems: ConfigProblem[]): SettingValues {
  const values: Record<string, Record<string, unknown>> = {};
  for (const placed of placedSettings) {
    const { group, key, path, setting } = placed;
    const inGroup = (values[group] ??= {});
    const choice = written.get(path);
    const text = choice?.text ?? (inPod ? setting.podDefault : undefined) ?? setting.default;
    if (text === undefined) {
      if (setting.required === true)
        problems.push({ where: namesOf(placed), message: `is required: expected ${setting.expected}` });
      continue;
    }
    const result = setting.type.safeParse(text);
    if (result.success) inGroup[key] = result.data;
    else problems.push(badValue(placed, choice, text, result.error.issues));
  }
  return values as unknown as SettingValues;
}

/** All the names that a setting has, for one that is missing. */
function namesOf({ path, setting }: PlacedSetting): string {
  return [setting.env, setting.flag, setting.secret === true ? undefined : `${path} in the file`]
    .filter((name) => name !== undefined)
    .join(', ');
}

function badValue(
  { setting }: PlacedSetting,
  choice: WrittenValue | undefined,
  text: string,
  issues: readonly { readonly code?: string | undefined; readonly message: string }[],
): ConfigProblem {
  const shown =
    setting.secret === true ? 'the value' : JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
  // A parser of our own says what exactly is wrong; the table says what would be right.
  const reason = issues.find((issue) => issue.code === 'custom' && issue.message !== NO_REASON)?.message;
  return {
    where: choice === undefined ? 'default' : `${choice.where} (${choice.layer})`,
    message: `${shown} is not valid: expected ${setting.expected}${reason === undefined ? '' : ` (${reason})`}`,
  };
}

/**
 * Variables that begin with HEADROOM_ and are nearly a setting's. No error: in a pod, Kubernetes itself sets variables
 * such as HEADROOM_WORKER_SERVICE_HOST for a Service with that name.
 */
function misspelledVariables(env: ConfigSources['env']): string[] {
  const known = [configFileSetting.env, ...placedSettings.map(({ setting }) => setting.env)];
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('HEADROOM_') || known.includes(name)) return [];
    const nearest = closest(name, known);
    return nearest === undefined ? [] : [`The environment variable ${name} is not a setting: did you mean ${nearest}?`];
  });
}

/** Every repository that may be changed; the first one is that of owner and repo, where they are given. */
function repositoriesOf({
  owner,
  repo,
  baseBranch,
  repositories = [],
}: SettingValues['github']): readonly RepositoryName[] {
  return owner === undefined || repo === undefined ? repositories : [{ owner, repo, baseBranch }, ...repositories];
}

function resolveGitHub(
  { github, resize }: SettingValues,
  written: Written,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
  notices: string[],
): GitHubTarget | undefined {
  const credential = readGitHubCredential(github, { written, readFile, problems });
  const repositories = repositoriesOf(github);
  const [first] = repositories;
  // A value that is there and wrong has its own problem already.
  const unnamed = [
    ...(written.has('github.owner') ? [] : ['GITHUB_OWNER']),
    ...(written.has('github.repo') ? [] : ['GITHUB_REPO']),
  ];
  // The list alone is enough; half of the first repository's name is a slip.
  const isNamed = unnamed.length === 0 || (unnamed.length === 2 && written.has('github.repositories'));
  if (first !== undefined && isNamed && credential !== undefined) {
    const { owner, repo, baseBranch } = first;
    return { apiUrl: github.apiUrl, owner, repo, baseBranch, repositories, credential };
  }
  const missing = [
    ...(isNamed ? [] : unnamed),
    ...(namesCredential(written) ? [] : ['GITHUB_TOKEN, GITHUB_TOKEN_FILE or GITHUB_APP_ID']),
  ];
  if (resize.mode === 'propose' && !resize.dryRun) {
    for (const where of missing) problems.push({ where, message: 'is required in mode "propose"' });
  } else if (missing.length > 0) {
    notices.push(
      `Without ${missing.join(', ')} Headroom can only observe, also where an annotation asks it to propose.`,
    );
  }
  return undefined;
}

function checkChecksPoll(timings: SettingValues['timings'], written: Written, problems: ConfigProblem[]): void {
  if (timings.checksPollMin <= timings.checksPollMax) return;
  const min = written.get('timings.checksPollMin');
  const max = written.get('timings.checksPollMax');
  const shortest = min?.text ?? settings.timings.checksPollMin.default;
  const longest = max?.text ?? settings.timings.checksPollMax.default;
  problems.push({
    where: (min ?? max)?.where ?? 'timings.checksPollMin',
    message: `the checks would be asked for every ${shortest} at first and every ${longest} later: expected the first to be the shorter`,
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
