import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PlatformImage } from './layout.ts';

const run = promisify(execFile);

/** What a container runtime does: the image read-only, with /proc, /dev and a volume, and a process as its user and without anybody's environment. */
const SCRIPT = `set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
if [ -n "$2" ]; then
  mount --bind "$2" "$1$3"
  mount -o "remount,bind,$4" "$1$3"
fi
shift 4
exec env --ignore-environment "$@"`;

/** Why nothing can be run from an image here, or undefined. */
export async function whyNoRoot(): Promise<string | undefined> {
  try {
    await run('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs none /mnt && chroot / true']);
    return undefined;
  } catch (error) {
    return `only root with mount namespaces can start what is in the image: ${String(error)}`;
  }
}

/** Unpacks the layers as a runtime does, and adds files that Kubernetes would mount. */
export async function unpackRoot(
  { layers }: PlatformImage,
  root: string,
  mounted: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const layer of layers)
    await run('tar', ['--extract', '--gzip', '--same-owner', '--file', layer, '--directory', root]);
  for (const [path, text] of Object.entries(mounted)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text, { mode: 0o644 });
  }
}

/** A folder that a process sees at a path that the unpacked image has. */
interface Volume {
  readonly folder: string;
  readonly path: string;
  readonly readOnly: boolean;
}

/** How to start a command in the unpacked image: as its user and in its folder, with its environment and this one. */
export function inRoot(
  { config }: PlatformImage,
  root: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
  volume?: Volume,
): { readonly command: string; readonly args: readonly string[] } {
  const [uid = '', gid = ''] = config.User.split(':');
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const enter = [
    '/usr/bin/unshare',
    `--root=${root}`,
    `--wd=${config.WorkingDir}`,
    `--setgid=${gid}`,
    `--setuid=${uid}`,
  ];
  const mount = [volume?.folder ?? '', volume?.path ?? '', volume?.readOnly === false ? 'rw' : 'ro'];
  return {
    command: 'unshare',
    args: ['--mount', 'sh', '-c', SCRIPT, 'sh', root, ...mount, ...variables, ...enter, ...command],
  };
}
