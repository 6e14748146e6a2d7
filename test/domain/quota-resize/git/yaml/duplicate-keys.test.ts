import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parsePart, splitStream } from '../../../../../domain/quota-resize/git/yaml/document.ts';
import * as fc from '../../../../kernel/fast-check.ts';

/** How many keys our parser and the library find that are there twice. */
function duplicates(text: string): { readonly ours: number; readonly library: number } {
  const of = (errors: readonly { readonly code: string }[]): number =>
    errors.filter(({ code }) => code === 'DUPLICATE_KEY').length;
  const ours = splitStream(text).flatMap((part) => parsePart(part).documents.flatMap(({ errors }) => errors));
  const library = [...parseAllDocuments(text, { merge: true, prettyErrors: false })].flatMap(({ errors }) => errors);
  return { ours: of(ours), library: of(library) };
}

const key = fc.constantFrom('a', '"a"', "'a'", '1', '"1"', '0x1', '.nan', '~', '""', '<<', '"<<"', '&x a', '*x', '[a]');
const value = fc.constantFrom('1', '{a: 1}', '{a: 1, a: 2}', '[a: 1, a: 2]', '{a, b, a}', '&x 1', '');

describe('keys that a mapping has twice', () => {
  it('are those that the library finds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 6 }), fc.boolean(), (pairs, nested) => {
        const lines = pairs.map(([name, content]) => `${nested ? '  ' : ''}${name}: ${content}`);
        const text = `${nested ? 'top:\n' : ''}${lines.join('\n')}\n`;
        const { ours, library } = duplicates(text);
        expect(ours).toBe(library);
      }),
      { numRuns: 500 },
    );
  });

  it('are said with the line of the second one, before what is wrong after it', () => {
    const [part] = splitStream('a: 1\nb: 2\na: 3\nc: [\n');
    const parsed = parsePart(part ?? { text: '', offset: 0, linesBefore: 0 });
    const [first] = parsed.documents[0]?.errors ?? [];
    expect(first).toMatchObject({ code: 'DUPLICATE_KEY', message: 'Map keys must be unique' });
    expect(parsed.lineAt(first?.pos[0] ?? 0)).toBe(3);
  });

  it('are looked for once: no key is compared with all others', () => {
    // The library asks each earlier key for its value; a text of 1 MB would be five billion questions.
    const text = Array.from({ length: 2_000 }, (_, index) => `key-${index}: 1\n`).join('');
    const [part] = splitStream(text);
    let asked = 0;
    const scalar = Object.getPrototypeOf(
      parsePart({ text: 'a', offset: 0, linesBefore: 0 }).documents[0]?.contents,
    ) as object;
    Object.defineProperty(scalar, 'value', {
      configurable: true,
      get(this: { written?: unknown }) {
        asked += 1;
        return this.written;
      },
      set(this: { written?: unknown }, written: unknown) {
        this.written = written;
      },
    });
    try {
      if (part !== undefined) {
        parsePart(part);
      }
    } finally {
      Reflect.deleteProperty(scalar, 'value');
    }
    expect(asked).toBeLessThan(100_000);
  });
});
