import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const SEPARATOR = `\n${'-'.repeat(80)}\n\n`;
const HEADING = /^(\S+) (\d\S*) \(.+\)\n/;

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)\b/i;

/**
 * The licenses of the modules' packages: most require that their text is included in every copy.
 *
 * @param moduleIds the paths of the modules, and of files that are copied.
 */
export async function licensesOf(moduleIds: readonly string[]): Promise<string> {
  const folders = new Set(moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []));
  const sections = await Promise.all([...folders].map(licenseOf));
  // A package that is there twice, for two others, has one section.
  return [...new Set(sections)].toSorted().join(SEPARATOR);
}

/** The packages that such a text is about: the first line of each section names one. */
export function packagesOf(licenses: string): readonly { readonly name: string; readonly version: string }[] {
  return licenses.split(SEPARATOR).flatMap((section) => {
    const [, name, version] = HEADING.exec(section) ?? [];
    return name === undefined || version === undefined ? [] : [{ name, version }];
  });
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageJson;
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map(async (file) => (await readFile(join(folder, file), 'utf8')).trimEnd()));
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts, ''].join('\n\n');
}
