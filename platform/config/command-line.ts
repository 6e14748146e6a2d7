import { parseArgs } from 'node:util';
import { closest } from './closest.ts';
import type { ConfigProblem, Setting, WrittenValue } from '../../domain/kernel/settings/setting.ts';
import { configFileSetting, constantRefusal, isSetting, type SettingEntry } from './settings.ts';

/** The result of parsing a command line: the text of each setting by its flag, what is no flag, and the problems. */
interface CommandLine {
  readonly words: readonly string[];
  readonly values: ReadonlyMap<string, WrittenValue>;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Parses `--flag value` and `--flag=value`; a switch alone means true. If a flag is given twice, the last value counts.
 * The value of an unknown flag is never shown: it may be a secret.
 */
export function readCommandLine(argv: readonly string[], settingEntries: readonly SettingEntry[]): CommandLine {
  const existing = new Map<string, Setting>([[configFileSetting.flag, configFileSetting]]);
  for (const { setting } of settingEntries) if (setting.flag !== undefined) existing.set(setting.flag, setting);
  // Without types the parser returns a separate value as a word of its own, so that a flag without a value does not
  // swallow the next flag.
  const { tokens } = parseArgs({ args: [...argv], strict: false, allowPositionals: true, tokens: true });

  const values = new Map<string, WrittenValue>();
  const words: string[] = [];
  const problems: ConfigProblem[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind === 'positional') words.push(token.value);
    if (token?.kind !== 'option') continue;
    const flag = token.rawName;
    const setting = existing.get(flag);
    const next = tokens[at + 1];
    // A switch takes a value only with "=", so that a word after it is reported and not dropped.
    const apart = token.value === undefined && next?.kind === 'positional' && setting?.isSwitch !== true;
    if (apart) at += 1;
    const text = apart ? next.value : token.value;

    if (setting === undefined) {
      const flags = settingEntries.filter(isSetting).flatMap((entry) => entry.setting.flag ?? []);
      const nearest = closest(flag, [configFileSetting.flag, ...flags]);
      problems.push({
        where: flag,
        message: `is not a flag: ${nearest === undefined ? '--help shows them all' : `did you mean ${nearest}?`}`,
      });
    } else if (setting.constant !== undefined) {
      problems.push({ where: flag, message: constantRefusal(setting) });
    } else if (text === undefined && setting.isSwitch !== true) {
      problems.push({ where: flag, message: `needs a value: expected ${setting.expected}` });
    } else {
      values.set(flag, { text: text ?? 'true', where: flag, layer: 'command line' });
    }
  }
  return { values, words, problems };
}
