import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { compilerMemory } from './compiler-memory.ts';
import type { PinnedServer } from './pinned-servers.ts';

/** Why a server is unavailable, in one sentence that says what to do. */
export class ServerUnavailable extends Error {
  override readonly name = 'ServerUnavailable';
}

/** The environment of child processes: `process.env`, or a test's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Go's messages when it cannot reach the module proxy, from its DNS, TCP, TLS and HTTP layers. */
const UNREACHABLE =
  /dial tcp|no such host|connection refused|connection reset|i\/o timeout|proxyconnect|TLS handshake|module lookup disabled|: EOF$|(403|404|407|429|50\d) /im;

/**
 * Builds a server with the Go toolchain on PATH, from the modules that its go.mod and go.sum pin.
 *
 * @param output the file that `go build` writes.
 * @param onProgress told what the build is doing, in a few words.
 * @throws ServerUnavailable when the modules cannot be had or the build fails.
 */
export async function goBuild(
  server: PinnedServer,
  output: string,
  environment: Environment,
  onProgress: (detail: string) => void,
): Promise<void> {
  let packages = 0;
  onProgress('finding out what has to be compiled');
  const total = await countStale(server, environment, onProgress);
  const began = performance.now();
  const build = await runGo([...server.buildArguments, '-o', output, server.package], server, environment, (line) => {
    if (line.startsWith('go: downloading ')) {
      onProgress('downloading modules');
    } else if (/^[\w.-]+(\/[\w.@~+-]+)*$/.test(line)) {
      packages += 1; // `go build -v` names each package when it has been compiled
      onProgress(howFar(packages, total, performance.now() - began));
    }
  });
  if (build.code !== 0) {
    throw new ServerUnavailable(explainFailure(server, build.errors, environment));
  }
}

/** How many packages Go has not compiled yet; null where it does not say. Downloads the modules that are missing. */
async function countStale(
  server: PinnedServer,
  environment: Environment,
  onProgress: (detail: string) => void,
): Promise<number | null> {
  const [, ...flags] = server.buildArguments;
  const args = ['list', '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', ...flags, server.package];
  const { code, output } = await runGo(args, server, environment, (line) => {
    if (line.startsWith('go: downloading ')) onProgress('downloading modules');
  });
  return code === 0 ? output.split('\n').filter((line) => line !== '').length : null;
}

/** With fewer compiled packages the remaining time cannot be estimated. */
const ENOUGH_TO_ESTIMATE = 20;

/** The progress of a build in a few words, with the remaining time at the present pace. */
export function howFar(compiled: number, total: number | null, milliseconds: number): string {
  if (total === null || compiled > total) return `${compiled} packages compiled`;
  const counted = `${compiled} of ${total} packages compiled`;
  if (compiled < ENOUGH_TO_ESTIMATE) return counted;
  const seconds = ((milliseconds / compiled) * (total - compiled)) / 1000;
  return `${counted}, ${seconds < 60 ? 'less than a minute' : `about ${Math.ceil(seconds / 60)} min`} left`;
}

/**
 * Makes sure that a build can be tried.
 * @throws ServerUnavailable when there is no Go on PATH, or one that is too old for the server's go.mod.
 */
export async function requireGo(server: PinnedServer, environment: Environment): Promise<void> {
  const install = `install Go ${server.goVersion} or newer, or put ${server.name} ${server.version} on PATH`;
  const answer = await runGo(['env', 'GOVERSION'], server, environment, () => {}).catch((error: unknown) => {
    throw new ServerUnavailable(
      `${server.name} ${server.version} has to be built, but there is no Go on PATH: ${install}`,
      { cause: error },
    );
  });
  const version = /go(\d+)\.(\d+)/.exec(answer.output);
  const [, major, minor] = version ?? [];
  const [neededMajor, neededMinor] = server.goVersion.split('.').map(Number) as [number, number];
  if (major === undefined || minor === undefined) {
    throw new ServerUnavailable(explainFailure(server, answer.errors, environment));
  }
  if (Number(major) < neededMajor || (Number(major) === neededMajor && Number(minor) < neededMinor)) {
    throw new ServerUnavailable(
      `${server.name} ${server.version} has to be built, but the Go on PATH is ${version?.[0] ?? ''}: ${install}`,
    );
  }
}

function explainFailure(server: PinnedServer, errors: readonly string[], environment: Environment): string {
  const what = `${server.name} ${server.version} could not be built`;
  const lastLine = errors.findLast((line) => line.trim() !== '')?.trim() ?? 'go said nothing';
  if (UNREACHABLE.test(errors.join('\n'))) {
    const proxy = environment['GOPROXY'];
    return `${what}, because its Go modules could not be downloaded (is the network up, and GOPROXY${proxy === undefined ? '' : `=${proxy}`} right?): ${lastLine}`;
  }
  return `${what}: ${lastLine}`;
}

interface GoAnswer {
  readonly code: number | null;
  readonly output: string;
  /** The last lines of stderr. */
  readonly errors: readonly string[];
}

/** Found on PATH. */
const GO = 'go';

/** Enough lines to find the reason of a failure, without the names of two thousand packages. */
const KEPT_LINES = 200;

function runGo(
  args: readonly string[],
  server: PinnedServer,
  environment: Environment,
  onLine: (line: string) => void,
): Promise<GoAnswer> {
  const env = {
    ...environment,
    ...compilerMemory(environment),
    // `-mod=readonly`: a build never changes what is pinned. A developer's own GOFLAGS or go.work must not either.
    GOFLAGS: '-mod=readonly',
    GOWORK: 'off',
  };
  return new Promise((resolve, reject) => {
    // Go constantly writes to these pipes and dies of SIGPIPE soon after its reader was killed, so no build is
    // orphaned.
    const go = spawn(GO, args, { cwd: server.moduleFolder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const errors: string[] = [];
    go.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    createInterface({ input: go.stderr }).on('line', (line) => {
      errors.push(line);
      errors.splice(0, errors.length - KEPT_LINES);
      onLine(line);
    });
    go.once('error', reject);
    go.once('close', (code) => {
      resolve({ code, output, errors });
    });
  });
}
