/** Which files of Debian's packages the image has. */
import { execFile } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readNativeFile } from './elf.ts';
import { type Entry, file } from './entry.ts';
import { type Member, readTar } from './tar.ts';

interface Package {
  readonly name: string;
  /** Its description, which scanners read to know what is in an image. */
  readonly control: string;
  readonly members: ReadonlyMap<string, Member>;
}

/** Where libraries are looked for, and the loader. */
const LIBRARY = /^(?:usr\/)?lib(?:64)?\/(?:[^/]+-linux-gnu\/)?[^/]+\.so[^/]*$/;

/** Zones in the form that everybody reads: not those with leap seconds, or those that are there a second time. */
const ZONES = /^usr\/share\/zoneinfo\/(?!right\/|posix\/|localtime$|posixrules$)/;

/** What scanners and people tell the distribution by, and the licenses that the packages' own texts refer to. */
const BASE = /^(?:etc\/(?:os-release|debian_version)|usr\/lib\/os-release|usr\/share\/common-licenses\/.+)$/;

const CERTIFICATE = /^usr\/share\/ca-certificates\/.+\.crt$/;

/** Where programs look for the authorities that they trust. */
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';

/**
 * The libraries that the native files need, directly or not, the authorities' certificates, time zones, and with each package its
 * license and its description.
 *
 * @param packages the packages' files by their names.
 * @throws Error where a library is in none of them, or one of them has nothing that is needed.
 */
export async function debianFiles(
  packages: ReadonlyMap<string, string>,
  natives: readonly Entry[],
): Promise<readonly Entry[]> {
  const unpacked = await Promise.all([...packages].map(([name, path]) => unpack(name, path)));
  const needed = librariesFor(natives, unpacked);
  // Some packages have their license in the folder of another one, which may have nothing else.
  const linked = new Set(unpacked.map(({ name, members }) => members.get(documentsOf(name))?.header.linkname));
  return unpacked.flatMap((from) => {
    const taken = [...from.members].flatMap(([path, member]) =>
      needed.has(path) || ZONES.test(path) || BASE.test(path) ? (entryOf(path, member, from) ?? []) : [],
    );
    const certificates = [...from.members].filter(([path]) => CERTIFICATE.test(path));
    if (certificates.length > 0) taken.push(file(CERTIFICATES, bundleOf(certificates)));
    if (taken.length === 0 && !linked.has(from.name)) throw new Error(`nothing of the package ${from.name} is needed`);
    return [...taken, ...licenseOf(from), file(`var/lib/dpkg/status.d/${from.name}`, from.control)];
  });
}

async function unpack(name: string, path: string): Promise<Package> {
  const run = promisify(execFile);
  const [{ stdout: archive }, { stdout: control }] = await Promise.all([
    run('dpkg-deb', ['--fsys-tarfile', path], { encoding: 'buffer', maxBuffer: 256 * 1024 * 1024 }),
    run('dpkg-deb', ['--field', path]),
  ]);
  return { name, control, members: await readTar(archive) };
}

/** The paths of the libraries that these need, of those that those need, and of the links that lead to them. */
function librariesFor(natives: readonly Entry[], packages: readonly Package[]): ReadonlySet<string> {
  const libraries = new Map(packages.flatMap(({ members }) => [...members].filter(([path]) => LIBRARY.test(path))));
  const byName = new Map([...libraries.keys()].map((path) => [basename(path), path]));
  const taken = new Set<string>();
  const take = (path: string): void => {
    if (taken.has(path)) return;
    taken.add(path);
    const member = libraries.get(path);
    if (member?.header.type === 'symlink') return take(targetOf(path, member.header.linkname ?? ''));
    if (member === undefined) throw new Error(`${path} is in none of the packages`);
    takeNeeded(path, member.content);
  };
  const takeNeeded = (path: string, content: Buffer): void => {
    const native = readNativeFile(content);
    if (native === null) return;
    if (native.interpreter !== null) take(native.interpreter.slice(1));
    for (const name of native.needed) {
      const found = byName.get(name);
      if (found === undefined) throw new Error(`${path} needs ${name}, which is in none of the packages`);
      take(found);
    }
  };
  for (const entry of natives) if (entry.kind === 'file') takeNeeded(entry.path, entry.content);
  return taken;
}

function targetOf(path: string, target: string): string {
  return target.startsWith('/') ? target.slice(1) : join(dirname(path), target);
}

/** Undefined for a folder. */
function entryOf(path: string, { header, content }: Member, { members }: Package): Entry | undefined {
  if (header.type === 'symlink') return { kind: 'link', path, target: header.linkname ?? '' };
  if (header.type === 'link') {
    const other = members.get((header.linkname ?? '').replace(/^\.\//, ''));
    return other === undefined ? undefined : entryOf(path, other, { name: '', control: '', members });
  }
  if (header.type !== 'file') return undefined;
  return file(path, content, (header.mode & 0o100) === 0 ? 0o644 : 0o755);
}

/** As `update-ca-certificates` makes it. */
function bundleOf(certificates: readonly (readonly [string, Member])[]): string {
  return certificates
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { content }]) => `${content.toString('latin1').trimEnd()}\n`)
    .join('');
}

function documentsOf(name: string): string {
  return `usr/share/doc/${name}`;
}

function licenseOf({ name, members }: Package): readonly Entry[] {
  const folder = documentsOf(name);
  const link = members.get(folder);
  if (link?.header.type === 'symlink') return [{ kind: 'link', path: folder, target: link.header.linkname ?? '' }];
  const text = members.get(`${folder}/copyright`);
  if (text === undefined) throw new Error(`the package ${name} has no license`);
  return [file(`${folder}/copyright`, text.content)];
}
