import type { Failure, FileOutcome, Outcome } from './vitest-outcome.ts';

/** More files of the core than this that fail in one run are no accident of the machine. */
const MOST_FLAKY_FILES = 2;

/**
 * The files that are run once more, each alone, when the others are through: those of the core that failed, if they are at
 * most two.
 */
export function filesToRepeat({ files }: Outcome, core: ReadonlySet<string>): readonly FileOutcome[] {
  const failed = files.filter(({ file, failures }) => core.has(file) && failures.length > 0);
  return failed.length <= MOST_FLAKY_FILES ? failed : [];
}

/**
 * The outcome of a run in which some files were run again: what these came to is what they came to the second time, unless
 * fewer of their tests passed then.
 */
export function withRepetitions(first: Outcome, repetitions: readonly Outcome[]): Outcome {
  const again = new Map(repetitions.flatMap(({ files }) => files).map((file) => [file.file, file]));
  const lastOf = (file: FileOutcome): FileOutcome => {
    const second = again.get(file.file);
    const testCount = file.passed + file.failures.length;
    return second === undefined || (second.failures.length === 0 && second.passed < testCount) ? file : second;
  };
  return {
    files: first.files.map(lastOf),
    failures: [...first.failures, ...repetitions.flatMap(({ failures }) => failures)],
  };
}

/** The files that failed first and passed then, such as `test/part/file.test.ts (what it does: Error: 1 is not 2)`. */
export function flakyFiles(repeated: readonly FileOutcome[], { files }: Outcome): readonly string[] {
  const passed = new Set(files.filter(({ failures }) => failures.length === 0).map(({ file }) => file));
  return repeated.filter(({ file }) => passed.has(file)).map(({ file, failures }) => `${file} (${firstOf(failures)})`);
}

function firstOf([failure]: readonly Failure[]): string {
  if (failure === undefined) return '';
  return failure.test === undefined ? failure.why : `${failure.test}: ${failure.why}`;
}

/** The files of which nothing passed and nothing failed: one that is not found, or of which all is skipped, has shown nothing. */
export function filesWithoutTests({ files }: Outcome, expected: Iterable<string>): readonly string[] {
  const ran = new Set(files.filter(({ passed, failures }) => passed + failures.length > 0).map(({ file }) => file));
  return [...expected].filter((file) => !ran.has(file));
}
