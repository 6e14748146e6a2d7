import { Secret, secretFromFile } from './secret.ts';
import { NO_REASON } from './forms.ts';
import type { Setting, SettingSources } from './setting.ts';

export interface SecretSetting {
  /** The setting's own path; that of the setting with its file ends in "File". */
  readonly path: string;
  readonly setting: Setting;
  /** What the user wrote there, when it is valid. */
  readonly value: string | undefined;
  /** The path of the file, where one is named. */
  readonly file: string | undefined;
}

/**
 * A secret that is in a setting, or in the file that another one names, which is read again at every use. Undefined where
 * it is in neither; a problem where it is in both, or the file is of no use.
 */
export function readSecretSetting(
  { path, setting, value, file }: SecretSetting,
  { written, readFile, problems }: SettingSources,
): Secret | undefined {
  const named = written.get(`${path}File`);
  if (file === undefined || named === undefined) return value === undefined ? undefined : new Secret(() => value);
  const direct = written.get(path);
  if (direct !== undefined) {
    problems.push({ where: direct.where, message: `is set and ${named.where} is set as well: keep one of them` });
    return undefined;
  }
  try {
    return secretFromFile(file, readFile, (text) => check(setting, text));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push({ where: named.where, message: `cannot read "${file}": ${reason}` });
    return undefined;
  }
}

/** @throws {Error} with what was expected, and nothing of the text: it may be another secret, in the wrong file. */
function check({ type, expected }: Setting, text: string): void {
  const result = type.safeParse(text);
  if (result.success) return;
  const reason = result.error.issues.find((issue) => issue.code === 'custom' && issue.message !== NO_REASON)?.message;
  throw new Error(`expected ${expected}${reason === undefined ? '' : ` (${reason})`}`);
}
