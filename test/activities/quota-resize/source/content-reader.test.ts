import { describe, expect, it } from 'vitest';
import { ContentReader } from '../../../../activities/quota-resize/source/content/content-reader.ts';
import type { ThreadOutcome } from '../../../../activities/quota-resize/source/content/content-thread.ts';
import type { UnreadFile } from '../../../../domain/quota-resize/git/locate/tree/unread.ts';
import type { TreeQuestion } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import { BILLION_MERGES, ENDLESS_MERGE, manyItems } from '../../../layouts/hostile.ts';

const question: TreeQuestion = {
  kind: 'locate',
  wanted: { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['pods'] },
  candidate: { from: 'scan', learntFrom: 'a search' },
};
const QUOTA =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: 2\n';

async function asked(
  reader: ContentReader,
  files: Readonly<Record<string, string>>,
  unread: Readonly<Record<string, UnreadFile>> = {},
): Promise<ThreadOutcome> {
  const tree = {
    paths: [...Object.keys(files), ...Object.keys(unread)].toSorted(),
    texts: new Map(Object.entries(files)),
    unread: new Map(Object.entries(unread)),
  };
  return await reader.ask(tree, question, { cpuMs: reader.options.cpuMs, isForEachFile: false });
}

const located = { kind: 'answer', answer: { kind: 'located', location: { path: 'a/quota.yaml' } } };

describe('a file that is read in a thread', () => {
  it('and takes more CPU time than it may is named, and the next question is answered', async () => {
    const reader = new ContentReader({ cpuMs: 300, threads: 1 });
    const files = { 'a/quota.yaml': QUOTA, 'b/quota.yaml': BILLION_MERGES };
    expect(await asked(reader, files)).toMatchObject({ kind: 'tooMuch', of: 'cpu', path: 'b/quota.yaml' });
    expect(await asked(reader, { 'a/quota.yaml': QUOTA })).toMatchObject(located);
  });

  it('does not keep questions about other files waiting', async () => {
    const reader = new ContentReader({ cpuMs: 800, threads: 2, patienceMs: 50 });
    const order: string[] = [];
    await Promise.all([
      asked(reader, { 'b/quota.yaml': BILLION_MERGES }).then(({ kind }) => order.push(kind)),
      asked(reader, { 'a/quota.yaml': QUOTA }).then(({ kind }) => order.push(kind)),
    ]);
    expect(order).toEqual(['answer', 'tooMuch']);
  });

  it('has one thread as long as no question waits for another', async () => {
    const reader = new ContentReader({ patienceMs: 60_000 });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => await asked(reader, { 'a/quota.yaml': QUOTA })),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject(located);
    expect(reader.threads).toBe(1);
  });

  it('has none when nothing was asked for a while, and one again with the next question', async () => {
    const reader = new ContentReader({ restMs: 10 });
    expect(await asked(reader, { 'a/quota.yaml': QUOTA })).toMatchObject(located);
    await eventually('the thread has ended', () => reader.threads === 0, 10_000);
    expect(await asked(reader, { 'a/quota.yaml': QUOTA })).toMatchObject(located);
    expect(reader.threads).toBe(1);
  });

  it('and takes more memory than it may is named, and the process lives on', async () => {
    const reader = new ContentReader({ heapMb: 32 });
    const files = { 'a/quota.yaml': QUOTA, 'b/quota.yaml': manyItems(150_000) };
    expect(await asked(reader, files)).toMatchObject({ kind: 'tooMuch', of: 'memory', path: 'b/quota.yaml' });
  });

  it('and nests without an end is named', async () => {
    const files = { 'a/quota.yaml': QUOTA, 'b/quota.yaml': ENDLESS_MERGE };
    expect(await asked(new ContentReader(), files)).toMatchObject({
      kind: 'tooMuch',
      of: 'depth',
      path: 'b/quota.yaml',
    });
  });

  it('is sent once, and what is left out of it later is heeded', async () => {
    const reader = new ContentReader({ threads: 1 });
    const tree = { paths: ['a/quota.yaml', 'b/team-a.yaml'], texts: new Map([['a/quota.yaml', QUOTA]]) };
    const budget = { cpuMs: 5_000, isForEachFile: false };
    const missing = { kind: 'answer', answer: { kind: 'missingFiles', paths: ['b/team-a.yaml'] } };
    expect(await reader.ask(tree, question, budget)).toMatchObject(missing);
    const unread = new Map([['b/team-a.yaml', reader.reasonOf({ kind: 'tooMuch', of: 'cpu', path: null, share: 1 })]]);
    expect(await reader.ask({ ...tree, unread }, question, budget)).toMatchObject({
      answer: { kind: 'unlocated', reason: 'ContentTooCostly' },
    });
    tree.texts.set('a/quota.yaml', QUOTA.replace('pods: 2', 'pods: 3'));
    tree.texts.set('b/team-a.yaml', '# nothing\n');
    expect(await reader.ask(tree, question, budget)).toMatchObject({ kind: 'answer' });
  });
});
