import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

const interfaces = [
  'kernel',
  'lease-gc',
  'lights-out',
  'memcached',
  'node-group',
  'node-group/drain',
  'quota-resize',
  'quota-usage',
];

async function text(path: string): Promise<string> {
  return await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
}

describe('docs/security.md', () => {
  it('says of each activity that writes what it believes', async () => {
    const all = await Promise.all(interfaces.map(async (name) => await text(`activities/${name}/interface.ts`)));
    const writing = all.flatMap((source) => [...source.matchAll(/^ {2}(ensure\w+)\(/gm)].map(([, name]) => name ?? ''));
    const security = await text('docs/security.md');
    const [, table = ''] = /## What activities believe\n([^]*?)\n## /.exec(security) ?? [];
    const named = [...table.matchAll(/`(ensure\w+)`/g)].map(([, name]) => name ?? '');
    expect(named.toSorted()).toEqual([...new Set(writing)].toSorted());
  });
});
