import { describe, expect, it } from 'vitest';
import { inBatches } from '../../activities/kernel/batch.ts';

/** Questions that are answered when the test says so. */
function slow() {
  const asked: { readonly questions: readonly string[]; readonly answer: PromiseWithResolvers<readonly string[]> }[] =
    [];
  const ask = inBatches<string, string>(async (questions) => {
    const answer = Promise.withResolvers<readonly string[]>();
    asked.push({ questions, answer });
    return await answer.promise;
  });
  const echo = (index: number): void =>
    asked[index]?.answer.resolve(asked[index].questions.map((question) => `${question}!`));
  return { ask, asked, echo };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('questions in batches', () => {
  it('go together when they are asked together, and each gets its own answer', async () => {
    const { ask, asked, echo } = slow();
    const answers = Promise.all([ask('a'), ask('b')]);
    await settle();
    echo(0);
    expect(await answers).toEqual(['a!', 'b!']);
    expect(asked.length).toBe(1);
  });

  it('wait for the batch under way and go together in the next one', async () => {
    const { ask, asked, echo } = slow();
    const first = ask('a');
    await settle();
    const later = [ask('b'), ask('c')];
    await settle();
    expect(asked.map(({ questions }) => questions)).toEqual([['a']]);
    echo(0);
    expect(await first).toBe('a!');
    await settle();
    echo(1);
    expect(await Promise.all(later)).toEqual(['b!', 'c!']);
    expect(asked.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c']]);
  });

  it('all fail with the error of their batch, and the next batch is asked all the same', async () => {
    const { ask, asked, echo } = slow();
    const failed = Promise.allSettled([ask('a'), ask('b')]);
    await settle();
    const next = ask('c');
    asked[0]?.answer.reject(new Error('no answer'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await settle();
    echo(1);
    expect(await next).toBe('c!');
  });

  it('without an answer for each of them fail for those that have none', async () => {
    const { ask, asked } = slow();
    const answers = Promise.allSettled([ask('a'), ask('b')]);
    await settle();
    asked[0]?.answer.resolve(['only one']);
    expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});
