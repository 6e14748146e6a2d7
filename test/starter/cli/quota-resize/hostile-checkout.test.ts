/** Checkouts with files that nobody can be expected to read: what is said about them, and that all others are read. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Scan } from '../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { ContentReader } from '../../../../activities/quota-resize/source/content/content-reader.ts';
import { BILLION_MERGES, ENDLESS_MERGE } from '../../../layouts/hostile.ts';
import { answered, readCheckout } from '../../../../starter/cli/quota-resize/checkout.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
  }
});

function folderWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'headroom-hostile-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function scan(root: string, limits?: Parameters<typeof readCheckout>[1]): Promise<Scan> {
  return await answered(readCheckout(root, limits), { kind: 'scan', options: {} });
}

const quota = (namespace: string): string =>
  `apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute, namespace: ${namespace}}\nspec: {hard: {pods: 2}}\n`;
const names = ({ quotas }: Scan): readonly string[] => quotas.map(({ namespace }) => namespace);
const problems = ({ unlocated }: Scan): readonly string[] =>
  unlocated.map(({ path, reason, message }) => `${path} ${reason} ${message}`);

describe('a checkout', () => {
  it('with a file of more than 1 MB that has quotas says so, and reads all others', async () => {
    const found = await scan(
      folderWith({ 'a.yaml': quota('team-a'), 'b.yaml': `${quota('team-b')}${'# filler\n'.repeat(120_000)}` }),
    );
    expect(names(found)).toEqual(['team-a']);
    expect(problems(found)).toEqual(['b.yaml ContentTooCostly has 1.1 MB, more than the 1 MB that are read of a file']);
  });

  it('with a large file that has no quota says nothing about it', async () => {
    const found = await scan(
      folderWith({ 'a.yaml': quota('team-a'), 'crds.yaml': 'description: words\n'.repeat(80_000) }),
    );
    expect(names(found)).toEqual(['team-a']);
    expect(problems(found)).toEqual([]);
  });

  it('finds a word at the border of two pieces of a large file', async () => {
    const text = `${'#'.repeat(1_000_000 - 5)}ResourceQuota`;
    expect(problems(await scan(folderWith({ 'b.yaml': text })))).toHaveLength(1);
  });

  it('of which not all fits has its smallest files read', async () => {
    const files = Object.fromEntries(
      ['b', 'c', 'd'].map((team) => [`${team}.yaml`, `${quota(team)}${'# filler\n'.repeat(10)}`]),
    );
    const found = await scan(folderWith({ ...files, 'z.yaml': quota('team-z') }), {
      fileBytes: 1000,
      lookupBytes: 500,
    });
    expect(names(found)).toEqual(['b', 'c', 'team-z']);
    expect(problems(found)).toEqual(['d.yaml ContentTooCostly is left out of the 1 kB that one lookup reads']);
  });

  it('with a symbolic link in the place of a resource refuses it by its name', async () => {
    const root = folderWith({ 'team-a/kustomization.yaml': 'namespace: team-a\nresources:\n- quota.yaml\n' });
    const outside = folderWith({ 'quota.yaml': quota('team-a') });
    symlinkSync(join(outside, 'quota.yaml'), join(root, 'team-a/quota.yaml'));
    const found = await scan(root);
    expect(names(found)).toEqual([]);
    expect(problems(found)).toEqual(['team-a/quota.yaml Unplaceable is a symbolic link, which is not followed']);
  });

  it('with a line of 500,000 blanks after a kind is looked through in linear time', async () => {
    const found = await scan(
      folderWith({ 'a.yaml': quota('team-a'), 'b.yaml': `kind: Namespace${' '.repeat(500_000)}x\n` }),
    );
    expect(names(found)).toEqual(['team-a']);
  });

  it('with files that would never end has each of them said, and all others read', async () => {
    const root = folderWith({ 'a.yaml': quota('team-a'), 'b.yaml': BILLION_MERGES, 'c.yaml': ENDLESS_MERGE });
    const found = await answered(readCheckout(root), { kind: 'scan', options: {} }, new ContentReader({ cpuMs: 300 }));
    expect(names(found)).toEqual(['team-a']);
    expect(problems(found)).toEqual([
      'b.yaml ContentTooCostly takes more than 0.3 s of CPU time to read',
      'c.yaml ContentTooCostly nests too deeply to be read',
    ]);
  });
});
