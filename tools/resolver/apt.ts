import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from './go-build.ts';

const run = promisify(execFile);

/** The message is why, in a few words that fit into a sentence. */
export class AptFailed extends Error {}

/** Debian's own tools, as anybody may use them: nothing is installed, and no rights are needed. */
export class Apt {
  readonly #folder: string;
  readonly #environment: Environment;
  /** With these, apt has lists of packages of its own. */
  #options: readonly string[] = [];

  /** @param folder where packages and lists come to be; its owner removes it. */
  constructor(folder: string, environment: Environment) {
    this.#folder = folder;
    this.#environment = environment;
  }

  /** The packages of libraries that a package depends on; the C library is there. */
  async libraries(name: string): Promise<readonly string[]> {
    const answer = await this.#run('apt-cache', [...this.#options, 'depends', '--important', name]);
    return [...answer.matchAll(/^ +Depends: (lib\S+)$/gm)]
      .map(([, library = '']) => library)
      .filter((library) => library !== 'libc6');
  }

  /**
   * The folder of the packages that were downloaded so far.
   *
   * @param packages as apt-get takes them: `memcached`, or `libc6=2.36-9`.
   * @throws AptFailed when one of them cannot be had.
   */
  async download(packages: readonly string[]): Promise<string> {
    const downloads = join(this.#folder, 'downloads');
    await mkdir(downloads, { recursive: true });
    const download = async (): Promise<string> =>
      await this.#run('apt-get', [...this.#options, '-q', 'download', ...packages], downloads);
    const hasOwnLists = this.#options.length > 0;
    await download().catch(async (error: unknown) => {
      // The lists of the machine may be missing, as in an image of a container, or name what is no longer served.
      if (hasOwnLists) throw error;
      await this.ownLists();
      await download();
    });
    return downloads;
  }

  async unpack(packages: readonly string[], into: string): Promise<void> {
    const downloads = await this.download(packages);
    for (const file of await readdir(downloads)) {
      if (file.endsWith('.deb')) await this.#run('dpkg', ['-x', join(downloads, file), into]);
    }
  }

  /**
   * Has apt know what is served now, beside the lists of the machine.
   *
   * @param architecture as Debian names it: that of the machine unless given.
   */
  async ownLists(architecture?: string): Promise<void> {
    const [state, cache] = [join(this.#folder, 'state'), join(this.#folder, 'cache')];
    await mkdir(join(state, 'lists', 'partial'), { recursive: true });
    await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
    const settings = [`Dir::State=${state}`, `Dir::Cache=${cache}`];
    if (architecture !== undefined) {
      settings.push(`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`);
    }
    this.#options = settings.flatMap((setting) => ['-o', setting]);
    await this.#run('apt-get', [...this.#options, '-q', 'update']);
  }

  async #run(command: string, args: readonly string[], cwd = this.#folder): Promise<string> {
    try {
      const env = { ...this.#environment, LC_ALL: 'C' };
      const { stdout } = await run(command, [...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw new AptFailed(isMissing ? `there is no ${command} here` : stderr.split('\n').at(-1) || String(error));
    }
  }
}
