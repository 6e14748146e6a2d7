import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RESOLVER = join(import.meta.dirname, '../../../tools/resolver/main.ts');
/** Where the shell and its commands are, without any Go. */
const SYSTEM_PATH = '/usr/bin:/bin';

export interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** For `installGo`: a build whose result is a shell script with these lines. */
export function buildsScript(lines: string): string {
  return `cat > "$out" <<'END'\n#!/bin/sh\n${lines}\nEND\nchmod +x "$out"`;
}

/** A home without servers, for programs that look for some: an empty cache folder, and on PATH what a test puts there. */
export class BareMachine {
  readonly home = mkdtempSync(join(tmpdir(), 'resolver-test-'));
  readonly bin = join(this.home, 'bin');
  readonly #running: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.bin);
  }

  /** A stand-in for the Go toolchain, since the real one takes minutes: `build` is the shell code of `go build -o $out …`. */
  installGo(build: string, version = 'go1.26.8'): void {
    const script = `#!/bin/sh
if [ "$1" = env ]; then echo ${version}; exit 0; fi
if [ "$1" = list ]; then printf 'bytes\\nerrors\\n'; exit 0; fi
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out="$2"; fi; shift; done
echo built >> '${this.#builds}'
${build}
`;
    writeFileSync(join(this.bin, 'go'), script, { mode: 0o755 });
  }

  /** How often that Go has built something. */
  builds(): number {
    return existsSync(this.#builds) ? readFileSync(this.#builds, 'utf8').trim().split('\n').length : 0;
  }

  resolve(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return this.run(RESOLVER, args, env);
  }

  /** Starts a program of this repository. */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: `${this.bin}:${SYSTEM_PATH}`, HOME: this.home, XDG_CACHE_HOME: join(this.home, 'cache'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.push(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const answer = new Promise<Answer>((done) => {
      child.once('close', (code) => {
        done({ code, stdout, stderr });
      });
    });
    return { child, answer, stderr: () => stderr };
  }

  remove(): void {
    for (const child of this.#running) child.kill('SIGKILL');
    // Again for as long as a command that Go started by itself still writes what it has counted.
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }

  get #builds(): string {
    return join(this.home, 'builds');
  }
}
