/** What documents and sources say, for comparing the one with the other. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the repository. */
export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Every document of the repository. */
export const documents: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'docs/adr', 'docs/operations'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  ),
];

/** The members of a union of texts, from its source: a type has no values to ask at run time. */
export function unionMembers(file: string, name: string): string[] {
  const source = read(file);
  const start = source.indexOf(`type ${name} =`);
  const body = source.slice(start, source.indexOf(';', start));
  const members = [...body.matchAll(/'(\w+)'/g)].map(([, member = '']) => member);
  if (start < 0 || members.length === 0) throw new Error(`${file} has no union ${name} of texts`);
  return members;
}

/** The word in code marks that each row of a table, or each entry of a list, begins with. */
export function entriesOf(markdown: string): string[] {
  return [...markdown.matchAll(/^(?:\||-) `([^`]+)`/gm)].map(([, word = '']) => word);
}

/** What each entry of a list begins with: a word in code marks, and another one in brackets. */
export function pairsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^- `(\w+)` \((\w+)\):/gm)].map(([, word, other]) => `${word} ${other}`);
}

/** What stands under a heading, up to the next one of its level or above. @throws Error where there is no such heading. */
export function sectionOf(markdown: string, heading: string): string {
  const start = markdown.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`there is no "${heading}"`);
  const body = markdown.slice(start + heading.length + 2);
  const level = heading.indexOf(' ');
  const end = body.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? body : body.slice(0, end);
}

interface ValueSchema {
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly enum?: readonly string[];
}

/** What the chart's schema says of a value, such as `rights.kwokNodes`. @throws Error where the chart has no such value. */
export function chartValue(path: string): ValueSchema {
  let schema = JSON.parse(read('deploy/chart/values.schema.json')) as ValueSchema;
  for (const part of path.split('.')) {
    const below = schema.properties?.[part];
    if (below === undefined) throw new Error(`the chart has no value ${path}`);
    schema = below;
  }
  return schema;
}

/** Whether a link of a document leads to a file, and to a heading of it. */
export function leadsSomewhere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  return existsSync(join(ROOT, target)) && (anchor === undefined || anchorsOf(read(target)).includes(anchor));
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): readonly string[] {
  const counts = new Map<string, number>();
  return [...withoutCode(markdown).matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

/** Without blocks of code, in which nothing is a heading or a link. */
export function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[^]*?^ *```$/gm, '');
}

/** A reader takes in one line of a cell. */
const LONGEST_CELL = 120;

/** Cells of tables that are longer than a line. */
export function longCells(markdown: string): readonly string[] {
  const rows = withoutCode(markdown).match(/^ *\|.*\|$/gm) ?? [];
  // A bar that is part of a cell has a backslash before it.
  const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  return cells.filter((cell) => cell.length > LONGEST_CELL && !/^:?-+:?$/.test(cell));
}
