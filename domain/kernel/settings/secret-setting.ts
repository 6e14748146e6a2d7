import { Secret, secretFromFile } from './secret.ts';
import { NO_REASON } from './forms.ts';
import type { Setting, SettingSources } from './setting.ts';

export interface SecretSetting {
  /** The path of the setting itself; the path of the setting with a file ends in "File". */
  readonly path: string;
  readonly setting: Setting;
  /** What the user wrote there, when it is valid. */
  readonly value: string | undefined;
  /** The path of the file, where one is named. */
  readonly file: string | undefined;
}

/**
 * A secret in a setting, or in the file that another setting names, which is read again at every use. Undefined when
 * there is neither; a problem when there are both, or when the file is invalid.
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

/** @throws {Error} with what was expected, without the text, which may be another secret in the wrong file. */
function check({ type, expected }: Setting, text: string): void {
  const result = type.safeParse(text);
  if (result.success) return;
  const reason = result.error.issues.find((issue) => issue.code === 'custom' && issue.message !== NO_REASON)?.message;
  throw new Error(`expected ${expected}${reason === undefined ? '' : ` (${reason})`}`);
}
