import { describe, expect, it, vi } from 'vitest';
import { type Reviews, Visitors } from '../../../starter/overview/visitor.ts';

/** Reviews of two users, which count how often each is asked. */
function reviewed(other: Partial<Reviews> = {}) {
  const asked: string[] = [];
  const warnings: unknown[] = [];
  const reviews: Reviews = {
    userOf: async (token) => {
      asked.push(token);
      return token === 'alices' || token === 'bobs' ? { username: token.slice(0, -1) } : null;
    },
    mayRead: async ({ username }) => username === 'alice',
    ...other,
  };
  const visitors = new Visitors(reviews, { warn: (fields: unknown) => warnings.push(fields) });
  return { visitors, asked, warnings };
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

  it('is asked about once where several ask at the same moment, however many they are', async () => {
    const { visitors, asked } = reviewed();
    const visits = await Promise.all(Array.from({ length: 20 }, async () => await visitors.visit('Bearer alices')));
    expect(visits).toEqual(Array.from({ length: 20 }, () => ({ kind: 'allowed', user: 'alice' })));
    expect(asked).toEqual(['alices']);
  });

  it('who was allowed is neither forgotten nor kept waiting for the tokens of strangers', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      let hang: Promise<null> | null = null;
      const asked: string[] = [];
      const { promise, resolve } = Promise.withResolvers<null>();
      const { visitors } = reviewed({
        userOf: async (token) => {
          asked.push(token);
          return token === 'alices' ? { username: 'alice' } : await hang;
        },
      });
      await visitors.visit('Bearer alices');
      for (let index = 0; index < 2_000; index++) await visitors.visit(`Bearer ${index}`);
      expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'allowed', user: 'alice' });
      expect(asked.filter((token) => token === 'alices')).toHaveLength(1);
      vi.advanceTimersByTime(10_000);
      hang = promise;
      const strangers = Array.from({ length: 8 }, async (_, index) => await visitors.visit(`Bearer x${index}`));
      expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'allowed', user: 'alice' });
      expect(asked.filter((token) => token === 'alices')).toHaveLength(2);
      resolve(null);
      await Promise.all(strangers);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not let in, and not remembered, after a question that failed, which is logged once', async () => {
    let fails = true;
    const { visitors, warnings } = reviewed({
      userOf: async () => {
        if (fails) throw new Error('the API server is away');
        return { username: 'alice' };
      },
    });
    for (const token of ['alices', 'bobs', 'alices']) {
      expect(await visitors.visit(`Bearer ${token}`)).toEqual({ kind: 'unanswered' });
    }
    expect(warnings).toEqual([{ reason: 'the API server is away' }]);
    fails = false;
    expect(await visitors.visit('Bearer alices')).toEqual({ kind: 'allowed', user: 'alice' });
  });
});
