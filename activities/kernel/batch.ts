/**
 * Asks one at a time for as many as want to know: whatever is asked while a question is under way goes into the next one.
 *
 * @param askAll answers in the order of the questions; when it throws, each of them fails with that error.
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
    // Whoever asks in the same turn of the event loop is in the first question.
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
