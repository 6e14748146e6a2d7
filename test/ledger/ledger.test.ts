import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLedger, ROOT } from './ledger.ts';

describe('the ledger of fields', () => {
  it('names for each field that is used files in which it is mentioned', () => {
    const astray = [...readLedger()].flatMap(([type, { used }]) =>
      Object.entries(used).flatMap(([field, files]) =>
        files.filter((file) => !mentions(file, field)).map((file) => `${file} does not mention ${type}.${field}`),
      ),
    );
    expect(astray).toEqual([]);
  });
});

const texts = new Map<string, string>();

function mentions(file: string, field: string): boolean {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
  texts.set(file, text);
  return new RegExp(`\\b${field}\\b`).test(text);
}
