import * as fc from '../../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ManifestEditError } from '../../../../../domain/quota-resize/git/yaml/error.ts';
import {
  addToMapping,
  addToSequence,
  blockScalarAt,
  documentsOf,
  type Pointer,
  replaceInBlockScalar,
  replaceScalar,
  scalarAt,
} from './edit-text.ts';
import { yamlFile } from './manifest-trees.ts';

/** What the library makes of a file, aliases and merges resolved. */
function values(text: string): unknown[] {
  return parseAllDocuments(text, { merge: true }).map(
    (document) => JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: -1 }) ?? null)) as unknown,
  );
}

/** The value with another one at the pointer. */
function changed(value: unknown, [step, ...rest]: Pointer, replacement: unknown): unknown {
  if (step === undefined) {
    return replacement;
  }
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const members = copy as Record<string | number, unknown>;
  members[step] = changed(members[step], rest, replacement);
  return copy;
}

function valueAt(value: unknown, pointer: Pointer): unknown {
  return pointer.reduce<unknown>((part, step) => (part as Record<string | number, unknown>)[step], value);
}

/** How the lines of a text became those of another: the numbers of lines changed and added; no line may go. */
function lineChanges(before: string, after: string): { changed: number; added: number } {
  const old = before.split('\n');
  const now = after.split('\n');
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) {
    tail += 1;
  }
  return { changed: old.length - head - tail, added: now.length - old.length };
}

const quantity = fc
  .tuple(fc.integer({ min: 0, max: 99999 }), fc.constantFrom('', 'm', 'k', 'Ki', 'Gi', 'E'))
  .map(([digits, suffix]) => `${digits}${suffix}`);
const anyText = fc.oneof(
  quantity,
  fc.constantFrom(
    '010',
    '1e3',
    'yes',
    'null',
    '~',
    '',
    ' x',
    'a: b',
    'a #b',
    "it's",
    '"',
    '\\',
    '- x',
    '{{ x }}',
    '0x1F',
    '1_0',
  ),
  fc.string({ maxLength: 6, unit: 'grapheme' }),
);

const edit = fc.tuple(yamlFile, fc.nat(), anyText).map(([{ text, leaves }, choice, value]) => ({
  text,
  value,
  leaf: leaves[choice % leaves.length] as (typeof leaves)[number],
}));

describe('any YAML file', () => {
  it('means to documentsOf what it means to the library', () => {
    fc.assert(
      fc.property(yamlFile, ({ text }) => {
        const documents = documentsOf(text);
        expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
        expect(documents.map(({ index }) => index)).toEqual(documents.map((_, index) => index));
        expect(documents.map(({ value }) => value)).toEqual(values(text));
      }),
      { numRuns: 300 },
    );
  });

  it('has each of its values where it was put, and changes in one line when one is replaced', () => {
    let edits = 0;
    let lines = 0;
    fc.assert(
      fc.property(edit, ({ text, value, leaf: { documentIndex, pointer } }) => {
        const before = values(text);
        const scalar = scalarAt(text, documentIndex, pointer);
        expect(scalar).toBeDefined();
        let after: string;
        try {
          after = replaceScalar(text, documentIndex, pointer, value);
        } catch (error) {
          // Nothing but what others share, and lines of their own in collections written in one line, may be refused here.
          expect(error).toBeInstanceOf(ManifestEditError);
          expect((error as ManifestEditError).obstacle).toBe('SharedByAnchor');
          return;
        }
        edits += 1;
        const written = valueAt(values(after)[documentIndex], pointer);
        expect(String(written)).toBe(value);
        const was = typeof valueAt(before[documentIndex], pointer);
        if (was === 'string' || (was === 'number' && /^(?:0|[1-9][0-9]*)$/.test(value))) {
          expect(typeof written).toBe(was);
        }
        expect(values(after)).toEqual(
          before.map((document, index) => (index === documentIndex ? changed(document, pointer, written) : document)),
        );
        const difference = lineChanges(text, after);
        expect([
          { changed: 1, added: 0 },
          { changed: 0, added: 1 },
          { changed: 0, added: 0 },
        ]).toContainEqual(difference);
        lines += difference.added;
        expect(scalarAt(after, documentIndex, pointer)).toMatchObject({ value, aliased: false });
      }),
      { numRuns: 600 },
    );
    expect(edits).toBeGreaterThan(400);
    expect(lines).toBeGreaterThan(5);
  });

  it('takes a new key in each of its mappings, and a new item in each of its sequences', () => {
    const addition = fc.tuple(
      yamlFile,
      fc.nat(),
      anyText,
      fc.constantFrom('new', 'new.key', 'new key', '2', 'true', 'a: b'),
    );
    let edits = 0;
    fc.assert(
      fc.property(addition, ([{ text }, choice, value, key]) => {
        const before = values(text);
        const locations = collections(before);
        const [documentIndex, ...pointer] = locations[choice % locations.length] as [number, ...(string | number)[]];
        const collection = valueAt(before[documentIndex], pointer);
        const [target, item] = Array.isArray(collection)
          ? [[...pointer, collection.length], { path: 'a.yaml', target: { kind: value } }]
          : [[...pointer, key], value];
        let after: string;
        try {
          after = Array.isArray(collection)
            ? addToSequence(text, documentIndex, pointer, `path: a.yaml\ntarget:\n  kind: ${JSON.stringify(value)}\n`)
            : addToMapping(text, documentIndex, pointer, key, value);
        } catch (error) {
          expect(error).toBeInstanceOf(ManifestEditError);
          expect((error as ManifestEditError).obstacle).toBe('SharedByAnchor');
          return;
        }
        edits += 1;
        const written = valueAt(values(after)[documentIndex], target);
        expect(typeof item === 'string' ? String(written) : written).toEqual(item);
        expect(values(after)).toEqual(
          before.map((document, index) => (index === documentIndex ? changed(document, target, written) : document)),
        );
        const { changed: lines, added } = lineChanges(text, after);
        expect(lines).toBeLessThanOrEqual(1);
        if (lines === 1 && added > 0) {
          // Only where the file ends without a newline a line after its last one changes that too.
          expect(text.endsWith('\n')).toBe(false);
        }
        expect([0, Array.isArray(collection) ? 3 : 1]).toContain(added);
      }),
      { numRuns: 300 },
    );
    expect(edits).toBeGreaterThan(150);
  });

  it('keeps every other byte of a literal block when one value in it changes', () => {
    const block = fc.tuple(
      edit,
      fc.constantFrom('|', '|-', '|+'),
      fc.constantFrom(1, 2, 6),
      fc.constantFrom('', '\n', '\n  \n'),
    );
    let edits = 0;
    fc.assert(
      fc.property(block, ([{ text: file, value, leaf }, header, indent, blanks]) => {
        const eol = file.includes('\r') ? '\r\n' : '\n';
        const lines = file
          .replace('\uFEFF', '')
          .split(/\r?\n/)
          .filter((line) => !/^(?:---|\.\.\.)/.test(line));
        fc.pre(leaf.documentIndex === 0 && !/^---|\.\.\.$/m.test(file));
        const body = lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line)).join('\n');
        const outer = `patches:\n- patch: ${header} # inline\n${body}${blanks}\n  target: x\n`.replaceAll('\n', eol);
        const pointer = ['patches', 0, 'patch'];
        const inner = blockScalarAt(outer, 0, pointer)?.inner ?? '';
        let expected: string;
        try {
          expected = replaceScalar(inner, 0, leaf.pointer, value);
        } catch {
          return;
        }
        const after = replaceInBlockScalar(outer, 0, pointer, () => expected);
        edits += 1;
        expect(blockScalarAt(after, 0, pointer)).toEqual({ inner: expected, line: 3 });
        expect(values(after)).toEqual(changed(values(outer), [0, ...pointer], expected));
        const difference = lineChanges(outer, after);
        expect(difference.changed + difference.added).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
    expect(edits).toBeGreaterThan(25);
  });
});

/** The way to each mapping and sequence, with the document's number first. */
function collections(value: unknown, pointer: Pointer = []): Pointer[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const below = Object.entries(value).flatMap(([key, child]) =>
    collections(child, [...pointer, Array.isArray(value) ? Number(key) : key]),
  );
  return pointer.length === 0 ? below : [pointer, ...below];
}
