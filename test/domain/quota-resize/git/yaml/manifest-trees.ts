/** Random YAML files for property tests: nested, in every style, with comments, anchors, aliases and merge keys. */
import * as fc from '../../../../kernel/fast-check.ts';

/** A file and the places of the single values in it, as they were built and not as any parser reads them. */
export interface YamlFile {
  readonly text: string;
  readonly leaves: readonly { readonly documentIndex: number; readonly pointer: readonly (string | number)[] }[];
}

interface Leaf {
  readonly kind: 'leaf';
  readonly written: string;
  readonly anchored: boolean;
  readonly aliased: boolean;
}
interface Branch {
  readonly kind: 'map' | 'seq';
  readonly flow: boolean;
  readonly merge: boolean;
  readonly items: readonly (readonly [key: string, comment: string, child: Tree])[];
}
type Tree = Leaf | Branch;

const scalar = fc.oneof(
  fc.constantFrom('2', '500m', '"2"', "'4Gi'", '1.5', 'true', '~', 'some words', '"a # b"', "'it''s'", '"\\u0041\\"x"'),
  fc.integer({ min: 0, max: 9999 }).map(String),
);
const key = fc.constantFrom(
  'requests.cpu',
  'limits.memory',
  'pods',
  'count/jobs.batch',
  '"quoted key"',
  "'x'",
  'team-a',
  'a',
  'b',
  'c d',
  '"1"',
);
const comment = fc.constantFrom('', '', '', ' # why: "7"', ' # ünïcode 🚀 - {a: b}');

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree; branch: Tree }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('leaf'), tie('branch')),
  leaf: fc
    .record({
      written: scalar,
      anchored: fc.boolean().map((yes) => yes),
      aliased: fc.constantFrom(false, false, false, true),
    })
    .map((leaf): Tree => ({ kind: 'leaf', ...leaf })),
  branch: fc
    .record({
      kind: fc.constantFrom('map' as const, 'map' as const, 'seq' as const),
      flow: fc.constantFrom(false, false, true),
      merge: fc.constantFrom(false, false, true),
      items: fc.array(fc.tuple(key, comment, tie('tree')), { minLength: 1, maxLength: 4 }),
    })
    .map(
      (branch): Tree => ({
        ...branch,
        items: branch.items.filter(
          ([name], at) => branch.items.findIndex(([other]) => bare(other) === bare(name)) === at,
        ),
      }),
    ),
}));

function bare(written: string): string {
  return written.replace(/^["']|["']$/g, '');
}

/** What comes first in each document, for aliases and merges to refer to. */
const PREAMBLE = 'defaults: &defaults\n  limits.cpu: "8"\n  services: 7\nlimit: &limit 9Gi\nquoted: &quoted "3"\n';

class Printer {
  readonly leaves: (readonly (string | number)[])[] = [];
  #anchors = 0;
  readonly #step: number;

  constructor(step: number) {
    this.#step = step;
  }

  /** The lines of a tree below a key or a dash; the first is the rest of that line. */
  print(node: Tree, pointer: readonly (string | number)[], indent: number, note: string): string {
    if (node.kind === 'leaf') {
      this.leaves.push(pointer);
      return ` ${this.#leaf(node)}${note}\n`;
    }
    if (node.flow) {
      return ` ${this.#flow(node, pointer)}${note}\n`;
    }
    const pad = ' '.repeat(indent);
    const lines = node.items.map(([name, comment, child], index) => {
      const step = node.kind === 'seq' ? index : bare(name);
      const head = node.kind === 'seq' ? '-' : `${name}:`;
      return `${pad}${head}${this.print(child, [...pointer, step], indent + this.#step, comment)}`;
    });
    const merge = node.kind === 'map' && node.merge ? `${pad}<<: *defaults\n` : '';
    if (merge !== '') {
      this.leaves.push([...pointer, 'services']);
    }
    return `${note}\n${merge}${lines.join('')}`;
  }

  #flow(node: Branch, pointer: readonly (string | number)[]): string {
    const items = node.items.map(([name, , child], index) => {
      const step = node.kind === 'seq' ? index : bare(name);
      const at = [...pointer, step];
      if (child.kind === 'leaf') {
        this.leaves.push(at);
      }
      const written = child.kind === 'leaf' ? this.#leaf(child) : this.#flow(child, at);
      return node.kind === 'seq' ? written : `${name}: ${written}`;
    });
    return node.kind === 'seq' ? `[${items.join(', ')}]` : `{ ${items.join(', ')} }`;
  }

  #leaf({ written, anchored, aliased }: Leaf): string {
    if (aliased) {
      return anchored ? '*limit ' : '*quoted ';
    }
    this.#anchors += 1;
    return anchored ? `&own${this.#anchors} ${written}` : written;
  }
}

const oneDocument = fc.record({
  items: fc.array(fc.tuple(key, comment, tree), { minLength: 1, maxLength: 3 }),
  step: fc.constantFrom(1, 2, 4),
});

export const yamlFile: fc.Arbitrary<YamlFile> = fc
  .record({
    documents: fc.array(oneDocument, { minLength: 1, maxLength: 3 }),
    eol: fc.constantFrom('\n', '\n', '\r\n'),
    bom: fc.boolean(),
    endsInNewline: fc.boolean(),
    opening: fc.constantFrom('', '# a file\n', '---\n', '# a file\n---\n'),
    between: fc.constantFrom('---\n', '---\n# next\n', '...\n---\n', '\n--- # next\n'),
  })
  .map(({ documents, eol, bom, endsInNewline, opening, between }) => {
    const leaves: { documentIndex: number; pointer: readonly (string | number)[] }[] = [];
    const texts = documents.map(({ items, step }, documentIndex) => {
      const printer = new Printer(step);
      const root: Tree = { kind: 'map', flow: false, merge: false, items: items.slice(0, 1) };
      const body = printer.print({ kind: 'map', flow: false, merge: false, items: [['root', '', root]] }, [], 0, '');
      leaves.push(...printer.leaves.map((pointer) => ({ documentIndex, pointer })));
      return `${PREAMBLE}${body.slice(1)}`;
    });
    const joined = `${bom ? '\uFEFF' : ''}${opening}${texts.join(between)}`;
    const ended = endsInNewline ? joined : joined.replace(/\n$/, '');
    return { text: ended.replaceAll('\n', eol), leaves };
  });
