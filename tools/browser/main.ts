import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { showProgress } from '../resolver/progress.ts';
import { findChromium } from './chromium.ts';

/**
 * `node tools/browser/main.ts` prints the path of the browser that the browser test drives. If there is none it installs
 * Debian's Chromium, where apt-get is there and may be used without a question.
 */

/** "A service is unavailable" of sysexits.h: there is no browser and none can be installed. */
const EXIT_UNAVAILABLE = 69;

const run = promisify(execFile);

async function installWithApt(): Promise<string | undefined> {
  const root = process.getuid?.() === 0;
  const [command = '', ...prefix] = root ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  const apt = (...args: string[]) =>
    run(command, [...prefix, '-q', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    });
  const progress = showProgress('installing chromium with apt-get for the browser test');
  try {
    await apt('update');
    await apt('install', '--yes', '--no-install-recommends', 'chromium');
    progress.done('installed chromium');
    return undefined;
  } catch (error) {
    progress.done('installing chromium failed');
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return stderr.split('\n').at(-1) || String(error);
  }
}

async function main(): Promise<number> {
  const failure = findChromium() === undefined ? await installWithApt() : undefined;
  const chromium = findChromium();
  if (chromium === undefined) {
    console.error(
      `there is no browser for the browser test: install Chromium, or set HEADROOM_CHROMIUM to one (apt-get could not: ${failure ?? 'it installed no chromium'})`,
    );
    return EXIT_UNAVAILABLE;
  }
  console.log(chromium);
  return 0;
}

process.exitCode = await main();
