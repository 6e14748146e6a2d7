/** What the images of a Memcached's pods are here: real programs of this machine. */
import { chmod, cp } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { resolvePackage } from '../../../tools/resolver/debian-package.ts';
import { cacheFolder } from '../../../tools/resolver/find-executable.ts';
import { resolveServer } from '../../../tools/resolver/resolve-server.ts';

export interface Program {
  readonly executable: string;
  /** The user of the image. */
  readonly user: number;
  /** The arguments, with what a network namespace of the pod's own would do in its place: all of its addresses are this one. */
  readonly inNetworkOf: (args: readonly string[], address: string) => readonly string[];
}

export interface Programs {
  /** @throws Error for an image that is nothing of a Memcached. */
  readonly of: (image: string) => Program;
}

/**
 * Finds both programs, and copies those into a folder that other users could not reach: memcached does not run as root.
 *
 * @param folder that other users may pass through.
 */
export async function findPrograms(folder: string): Promise<Programs> {
  const memcached = await reachable(await resolvePackage('memcached'), folder);
  const exporter = await reachable(await resolveServer('memcached_exporter'), folder);
  const programs: Readonly<Record<string, Program>> = {
    memcached: { executable: memcached, user: 11_211, inNetworkOf: memcachedAt },
    'memcached-exporter': { executable: exporter, user: 65_534, inNetworkOf: exporterAt },
  };
  return {
    of: (image) => {
      const program = programs[basename(image).split(/[:@]/)[0] ?? ''];
      if (program === undefined) throw new Error(`the kubelet of the tests has no program for the image ${image}`);
      return program;
    },
  };
}

async function reachable(executable: string, folder: string): Promise<string> {
  if (!executable.startsWith(cacheFolder(process.env))) return executable;
  const copy = join(folder, basename(executable));
  await cp(dirname(executable), copy, { recursive: true });
  await chmod(copy, 0o755);
  return join(copy, basename(executable));
}

/** Without `-l` memcached listens on all addresses, and `*` in it is all of them. */
function memcachedAt(args: readonly string[], address: string): readonly string[] {
  const here = args.map((word, at) => (args[at - 1] === '-l' ? word.replaceAll('*', address) : word));
  return args.includes('-l') ? here : ['-l', address, ...args];
}

/** It asks the memcached of its pod at localhost, and listens on all addresses. */
function exporterAt(args: readonly string[], address: string): readonly string[] {
  return [`--memcached.address=${address}:11211`, `--web.listen-address=${address}:9150`, ...args];
}
