/** Configurations that are loaded from files in a folder of their own, for a test file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { ConfigError } from '../../../platform/config/config-problem.ts';
import { type Config, loadConfig } from '../../../starter/config.ts';

export interface TemporaryConfig {
  /** Emptied for every test. */
  readonly folder: () => string;
  /** Writes a file into the folder. @returns its path. */
  readonly file: (name: string, content: string) => string;
  readonly load: (env: Record<string, string>, ...argv: string[]) => Config;
  /** The message of the error that this configuration is refused with. */
  readonly refusal: (env: Record<string, string>, ...argv: string[]) => string;
}

export function temporaryConfig(): TemporaryConfig {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headroom-config-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  // No file of the machine's user takes part.
  const load: TemporaryConfig['load'] = (env, ...argv) => loadConfig({ env: { HOME: folder, ...env }, argv });
  return {
    folder: () => folder,
    file: (name, content) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    load,
    refusal: (env, ...argv) => {
      try {
        load(env, ...argv);
      } catch (error) {
        if (error instanceof ConfigError) return error.message;
        throw error;
      }
      throw new Error('the configuration was accepted');
    },
  };
}
