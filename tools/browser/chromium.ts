import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const OUTSIDE_PATH = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/**
 * The browser of the browser test: `HEADROOM_CHROMIUM`, or the first Chromium or Chrome on PATH.
 * @returns the path of its executable, or undefined if this machine has none.
 */
export function findChromium(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = [
    environment['HEADROOM_CHROMIUM'] ?? '',
    ...COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command))),
    ...OUTSIDE_PATH,
  ];
  return candidates.find((candidate) => candidate !== '' && isExecutable(candidate));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
