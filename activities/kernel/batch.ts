/**
 * Combines questions into batches: questions that arrive while a batch is being answered form the next one.
 *
 * @param askAll answers in the order of the questions; when it throws, all of them fail with that error.
 */
export function inBatches<Question, Answer>(
  askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  interface Pending {
    readonly question: Question;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }
  let pending: Pending[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // Questions from the same turn of the event loop belong to the first batch.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      try {
        const answers = await askAll(batch.map(({ question }) => question));
        for (const [index, { resolve, reject }] of batch.entries()) {
          const answer = answers[index];
          if (answer === undefined) reject(new Error(`${answers.length} answers to ${batch.length} questions`));
          else resolve(answer);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  return async (question) =>
    await new Promise<Answer>((resolve, reject) => {
      pending.push({ question, resolve, reject });
      if (!running) void run();
    });
}
