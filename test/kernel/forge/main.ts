import { parseArgs } from 'node:util';
import { startForge } from './forge.ts';
import type { RepositoryOptions } from './open-repository.ts';
import type { ForgeOptions } from './options.ts';

const USAGE =
  'npm run forge -- --git-dir PATH --owner OWNER --repo REPO --port N [--token T] [--checks pass|fail|pending|none] [--latency MS] [--webhook-url URL [--webhook-secret S]] [--repository OWNER/REPO=PATH]... [--enterprise]';

/** A wrong argument; its message is one sentence. */
class ArgumentError extends Error {}

/** @throws ArgumentError that says what is wrong and what would be right */
function optionsFrom(args: readonly string[]): ForgeOptions {
  const { values } = parsed(args);
  const required = (name: 'git-dir' | 'owner' | 'repo' | 'port'): string => {
    const value = values[name];
    if (!value) throw new ArgumentError(`--${name} is missing; usage: ${USAGE}`);
    return value;
  };
  const name = (option: 'owner' | 'repo'): string => {
    const value = required(option);
    if (!/^[\w.-]+$/.test(value)) {
      throw new ArgumentError(
        `--${option} ${JSON.stringify(value)} is no name: letters, digits, ".", "_" and "-" are allowed`,
      );
    }
    return value;
  };
  const whole = (option: 'port' | 'latency', text: string, highest: number): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > highest) {
      throw new ArgumentError(`--${option} ${JSON.stringify(text)} is not a whole number from 0 to ${highest}`);
    }
    return value;
  };
  const hook = values['webhook-url'];
  if (hook !== undefined && !/^https?:\/\//.test(hook)) {
    throw new ArgumentError(`--webhook-url ${JSON.stringify(hook)} is no address that begins with http:// or https://`);
  }
  const secret = values['webhook-secret'];
  if (secret !== undefined && hook === undefined) {
    throw new ArgumentError('--webhook-secret needs the --webhook-url that it signs for');
  }
  const checks = (['pass', 'fail', 'pending', 'none'] as const).find((mode) => mode === (values.checks ?? 'none'));
  if (!checks)
    throw new ArgumentError(`--checks ${JSON.stringify(values.checks)} is none of pass, fail, pending, none`);
  return {
    gitDir: required('git-dir'),
    owner: name('owner'),
    repo: name('repo'),
    port: whole('port', required('port'), 65_535),
    ...(values.token ? { token: values.token } : {}),
    checks,
    latencyMs: whole('latency', values.latency ?? '0', 3_600_000),
    ...(hook === undefined ? {} : { hooks: [{ url: hook, ...(secret === undefined ? {} : { secret }) }] }),
    repositories: (values.repository ?? []).map(repositoryFrom),
    enterprise: values.enterprise ?? false,
    log: values.log ?? process.stdout,
    validate: values.validate ?? false,
  };
}

/** One more repository: `acme/clusters=/srv/clusters.git`. @throws ArgumentError */
function repositoryFrom(text: string): RepositoryOptions {
  const [, owner, repo, gitDir] = /^([\w.-]+)\/([\w.-]+)=(.+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined || gitDir === undefined) {
    throw new ArgumentError(`--repository ${JSON.stringify(text)} is not of the form OWNER/REPO=PATH`);
  }
  return { owner, repo, gitDir };
}

// The type is parseArgs' own, with the options spelled out.
function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'git-dir': { type: 'string' },
        owner: { type: 'string' },
        repo: { type: 'string' },
        port: { type: 'string' },
        token: { type: 'string' },
        checks: { type: 'string' },
        latency: { type: 'string' },
        log: { type: 'string' },
        validate: { type: 'boolean' },
        'webhook-url': { type: 'string' },
        'webhook-secret': { type: 'string' },
        repository: { type: 'string', multiple: true },
        enterprise: { type: 'boolean' },
      },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split(/\.\s/)[0] ?? '') : String(cause);
    throw new ArgumentError(`${reason}; usage: ${USAGE}`, { cause });
  }
}

try {
  const options = optionsFrom(process.argv.slice(2));
  const forge = await startForge(options);
  console.error(
    `The forge serves ${forge.gitDir} as ${options.owner}/${options.repo}: API ${forge.apiUrl}, pages ${forge.url}/${options.owner}/${options.repo}/pulls, clone ${forge.cloneUrl}`,
  );
  const stop = (): void => {
    forge.stop().then(
      () => process.exit(0),
      (cause: unknown) => {
        console.error(cause instanceof Error ? cause.message : String(cause));
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : String(cause));
  // 2 for what the caller can put right, as shells have it.
  process.exitCode = 2;
}
