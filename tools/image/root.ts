/** The file system of the image: three layers, of which the last one alone changes from commit to commit. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { NATIVE_FILE } from '../programs/plugins.ts';
import { debianFiles } from './debian-files.ts';
import type { Downloads } from './downloads.ts';
import { below, type Entry, file } from './entry.ts';
import { type Architecture, NAMES_OF } from './platforms.ts';
import { entriesBelow, readTar } from './tar.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Layer {
  /** What `docker history` says of it. */
  readonly about: string;
  readonly entries: readonly Entry[];
}

/** The shell is none that there is. */
const USERS = ['root:x:0:0:root:/:/sbin/nologin', 'headroom:x:1000:1000:headroom:/app:/sbin/nologin', ''];

/** `kubectl exec deployment/headroom-worker -- headroom list`. Its own first line asks for `env`, which is not in the image. */
const COMMAND = "#!/usr/local/bin/node\nimport('/app/headroom.js');\n";

/**
 * @param programs the folder that `npm run build` wrote.
 * @throws Error where a library is missing, or a package is not needed.
 */
export async function layersOf(
  architecture: Architecture,
  downloads: Downloads,
  programs: string,
): Promise<readonly Layer[]> {
  const node = await nodeFiles(downloads.node);
  // The plugin is for machines where people have kubectl.
  const inPods = (await programFiles(architecture, programs)).filter(({ path }) => !path.startsWith('kubectl'));
  const app = below('app', inPods);
  const system = await debianFiles(downloads.debian, [...node, ...app]);
  return [
    { about: "files of Debian's packages, and the users", entries: [...system, ...baseFiles()] },
    { about: 'Node', entries: node },
    { about: 'the programs', entries: [...app, file('usr/local/bin/headroom', COMMAND, 0o755)] },
  ];
}

function baseFiles(): readonly Entry[] {
  const mountPoints = ['dev', 'proc', 'sys'].map((path): Entry => ({ kind: 'folder', path }));
  return [
    ...mountPoints,
    file('etc/passwd', USERS.join('\n')),
    file('etc/group', 'root:x:0:\nheadroom:x:1000:\n'),
    // Without it, glibc would ask DNS before it reads /etc/hosts.
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
  ];
}

async function nodeFiles(archive: Buffer): Promise<readonly Entry[]> {
  const members = await readTar(gunzipSync(archive));
  const content = (path: string): Buffer => {
    const member = members.get(`package/${path}`);
    if (member === undefined) throw new Error(`npm's package with Node has no ${path}`);
    return member.content;
  };
  return [
    file('usr/local/bin/node', content('bin/node'), 0o755),
    file('usr/share/doc/node/LICENSE', content('LICENSE')),
  ];
}

/**
 * The programs, which Node runs from any folder, by their paths in it.
 *
 * @param programs the folder that `npm run build` wrote, for whatever architecture.
 */
export async function programFiles(architecture: Architecture, programs: string): Promise<readonly Entry[]> {
  const built = await entriesBelow(programs);
  // What Node keeps of its compiling is for one kind of machine, and not the same twice.
  const shipped = built.filter(({ path }) => path !== NATIVE_FILE && !path.startsWith('compiled/'));
  const sdk = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  const bridge = sdk.resolve('@temporalio/core-bridge/package.json');
  const native = join(bridge, '../releases', NAMES_OF[architecture].rust, 'index.node');
  return [
    ...shipped,
    file(NATIVE_FILE, await readFile(native)),
    file('LICENSE', await readFile(join(ROOT, 'LICENSE'))),
  ];
}
