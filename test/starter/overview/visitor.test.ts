import { describe, expect, it } from 'vitest';
import { type Reviews, Visitors } from '../../../starter/overview/visitor.ts';

/** Reviews of two users, which count how often each is asked. */
function reviewed(other: Partial<Reviews> = {}) {
  const asked: string[] = [];
  const visitors = new Visitors({
    userOf: async (token) => {
      asked.push(token);
      return token === 'alices' || token === 'bobs' ? { username: token.slice(0, -1) } : null;
    },
    mayRead: async ({ username }) => username === 'alice',
    ...other,
  });
  return { visitors, asked };
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a visitor of the opened overview', () => {
  it.each([
    ['Bearer alices', { kind: 'allowed', user: 'alice' }],
    ['bearer   alices', { kind: 'allowed', user: 'alice' }],
    [basic('whoever:alices'), { kind: 'allowed', user: 'alice' }],
    [basic(':alices'), { kind: 'allowed', user: 'alice' }],
    ['Bearer bobs', { kind: 'forbidden', user: 'bob' }],
    ['Bearer nobodys', { kind: 'unknown' }],
  ])('who sends %j is %o', async (header, visit) => {
    expect(await reviewed().visitors.visit(header)).toEqual(visit);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    basic('alice:'),
    basic(''),
    'Digest alices',
    'Bearer a b',
    `Bearer ${'x'.repeat(16_385)}`,
  ])('who sends %j is unknown, and nobody is asked', async (header) => {
    const { visitors, asked } = reviewed();
    expect(await visitors.visit(header)).toEqual({ kind: 'unknown' });
    expect(asked).toEqual([]);
  });

  it('is asked about once in a while, whatever the answer', async () => {
    const { visitors, asked } = reviewed();
    for (const header of ['Bearer alices', 'Bearer nobodys', basic('x:alices'), 'Bearer nobodys'])
      await visitors.visit(header);
    expect(asked).toEqual(['alices', 'nobodys']);
  });

  it('waits where eight are asked about already, and is asked about afterwards', async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    const { visitors } = reviewed({ userOf: async () => await promise });
    const waiting = Array.from({ length: 8 }, async (_, index) => await visitors.visit(`Bearer ${index}`));
    expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'busy' });
    resolve(null);
    await Promise.all(waiting);
    expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'unknown' });
  });

  it('is not remembered after a question that failed', async () => {
    let fails = true;
    const { visitors } = reviewed({
      userOf: async () => {
        if (fails) throw new Error('the API server is away');
        return { username: 'alice' };
      },
    });
    await expect(visitors.visit('Bearer alices')).rejects.toThrow('the API server is away');
    fails = false;
    expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'allowed', user: 'alice' });
  });
});
