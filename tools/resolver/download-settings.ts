import { type Environment, ServerUnavailable } from './go-build.ts';

/** A proxy that looks for viruses sends nothing until it has the whole file. */
const SILENCE_SECONDS = 30;
const MOST_SECONDS = 3600;

/** How release files are asked for. */
export interface DownloadSettings {
  /** In place of the real hosts, whose names are its first folders: `<mirror>/dl.k8s.io/v1.35.4/…`. Without a slash at its end. */
  readonly mirror: string | undefined;
  /** Milliseconds without a byte after which a host is given up. */
  readonly silence: number;
}

/**
 * Whether DOWNLOAD asks for official release files in place of builds.
 * @throws ServerUnavailable for a value that says neither.
 */
export function isDownloadWanted(environment: Environment): boolean {
  const value = environment['DOWNLOAD'] ?? '';
  if (value === '1') return true;
  if (value === '' || value === '0') return false;
  throw new ServerUnavailable(
    `DOWNLOAD is "${value}": 1 takes the official release files, 0 or nothing builds the servers`,
  );
}

/** A URL as it can be printed: without user and password, even where it is not quite one. */
export function withoutSecret(url: string): string {
  return url.replace(/^.*@/s, '…@');
}

/** @throws ServerUnavailable for a value that cannot be used. */
export function downloadSettings(environment: Environment): DownloadSettings {
  const mirror = environment['DOWNLOAD_MIRROR'] ?? '';
  const address = URL.parse(mirror);
  if (mirror !== '' && !/^https?:$/.test(address?.protocol ?? '')) {
    throw new ServerUnavailable(
      `DOWNLOAD_MIRROR is "${withoutSecret(mirror)}": it has to be a URL, such as https://mirror.example/files`,
    );
  }
  if (address !== null && address.username + address.password !== '') {
    throw new ServerUnavailable(
      'DOWNLOAD_MIRROR has a user or a password, which are not sent: it has to be a URL without, such as https://mirror.example/files',
    );
  }
  const timeout = environment['DOWNLOAD_TIMEOUT'] || String(SILENCE_SECONDS);
  const seconds = /^\d+$/.test(timeout) ? Number(timeout) : 0;
  if (seconds < 1 || seconds > MOST_SECONDS) {
    throw new ServerUnavailable(
      `DOWNLOAD_TIMEOUT is "${timeout}": it has to be a whole number of seconds from 1 to ${MOST_SECONDS}`,
    );
  }
  return { mirror: mirror === '' ? undefined : mirror.replace(/\/+$/, ''), silence: seconds * 1000 };
}
