import { writeFile } from 'node:fs/promises';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

/** The environment variable with the path of the file that {@link RunRecorder} writes. */
export const RUN_RECORD = 'HEADROOM_TEST_RUN_RECORD';

/** What vitest's JSON report lacks. */
export interface RunRecord {
  /** Of each file, from its start, that of its servers included, to the end of its last test. */
  readonly seconds: Readonly<Record<string, number>>;
  /** Why a file could not be loaded, or set up, or a group of its tests; the report has no reason where it was a group. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The messages of errors that were thrown outside of any test. */
  readonly unhandled: readonly string[];
}

/** A reporter of vitest that writes a {@link RunRecord}. */
export default class RunRecorder implements Reporter {
  readonly #begun = new Map<string, number>();
  readonly #seconds: Record<string, number> = {};
  readonly #reasons: Record<string, string> = {};

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#begun.set(moduleId, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const begun = this.#begun.get(module.moduleId);
    if (begun !== undefined) this.#seconds[module.relativeModuleId] = (performance.now() - begun) / 1_000;
    const parts: readonly (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
    const [first] = parts.flatMap((part) => part.errors());
    if (first !== undefined) this.#reasons[module.relativeModuleId] = first.message;
  }

  async onTestRunEnd(_: unknown, errors: readonly { readonly message: string }[]): Promise<void> {
    const file = process.env[RUN_RECORD];
    if (file === undefined) throw new Error(`${RUN_RECORD} has no path`);
    const record: RunRecord = {
      seconds: this.#seconds,
      reasons: this.#reasons,
      unhandled: errors.map(({ message }) => message),
    };
    await writeFile(file, JSON.stringify(record));
  }
}
