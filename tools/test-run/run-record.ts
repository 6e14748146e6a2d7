import { writeFile } from 'node:fs/promises';
import type { Reporter, TestModule } from 'vitest/node';

/** The environment variable with the path of the file that {@link RunRecorder} writes. */
export const RUN_RECORD = 'HEADROOM_TEST_RUN_RECORD';

/** What vitest's JSON report lacks. */
export interface RunRecord {
  /** Of each file, from its start, that of its servers included, to the end of its last test. */
  readonly seconds: Readonly<Record<string, number>>;
  /** The messages of errors that were thrown outside of any test. */
  readonly unhandled: readonly string[];
}

/** A reporter of vitest that writes a {@link RunRecord}. */
export default class RunRecorder implements Reporter {
  readonly #begun = new Map<string, number>();
  readonly #seconds: Record<string, number> = {};

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#begun.set(moduleId, performance.now());
  }

  onTestModuleEnd({ moduleId, relativeModuleId }: TestModule): void {
    const begun = this.#begun.get(moduleId);
    if (begun !== undefined) this.#seconds[relativeModuleId] = (performance.now() - begun) / 1_000;
  }

  async onTestRunEnd(_: unknown, errors: readonly { readonly message: string }[]): Promise<void> {
    const file = process.env[RUN_RECORD];
    if (file === undefined) throw new Error(`${RUN_RECORD} has no path`);
    const record: RunRecord = { seconds: this.#seconds, unhandled: errors.map(({ message }) => message) };
    await writeFile(file, JSON.stringify(record));
  }
}
