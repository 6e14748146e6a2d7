import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { closest } from './closest.ts';
import type { ConfigProblem, WrittenValue } from '../../domain/kernel/settings/setting.ts';
import { constantRefusal, isSetting, type SettingEntry } from './settings.ts';

/** The result of parsing a configuration file: the text of each setting by its path, and the problems. */
interface ConfigFileContent {
  readonly values: ReadonlyMap<string, WrittenValue>;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads the YAML configuration file: two levels, `<group>: { <key>: <value> }`. A key without a value (`key:`) counts as
 * absent. An unknown key, a secret, and anything that is no single value is a problem with its line.
 *
 * @param fileName how the user named the file, for the messages.
 */
export function readConfigFile(
  text: string,
  fileName: string,
  settingEntries: readonly SettingEntry[],
): ConfigFileContent {
  const settable = settingEntries.filter(isSetting);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const values = new Map<string, WrittenValue>();
  const problems: ConfigProblem[] = [];
  const at = (offset: number | undefined): string =>
    offset === undefined ? fileName : `${fileName} line ${lines.linePos(offset).line}`;
  const problem = (where: string, message: string): void => {
    problems.push({ where, message });
  };

  if (document.errors.length > 0) {
    for (const error of document.errors) problem(at(error.pos[0]), `is not valid YAML: ${error.message}`);
    return { values, problems };
  }
  if (document.contents === null) return { values, problems };
  if (!isMap(document.contents)) {
    problem(fileName, 'must be a map of groups, such as "resize: { mode: propose }"');
    return { values, problems };
  }

  const resolved = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);

  for (const { name: group, offset, value } of entries(document.contents)) {
    const members = settingEntries.filter((entry) => entry.group === group);
    if (members.length === 0) {
      problem(at(offset), unknownKey(group, [...new Set(settable.map((entry) => entry.group))]));
      continue;
    }
    const map = resolved(value);
    if (isEmpty(map)) continue;
    if (!isMap(map)) {
      const keys = settable.flatMap((entry) => (entry.group === group ? [entry.key] : []));
      problem(at(offset), `${group} must be a map of ${keys.join(', ')}`);
      continue;
    }
    for (const { name: key, offset: keyOffset, value: keyValue } of entries(map)) {
      const entry = members.find((member) => member.key === key);
      const scalar = resolved(keyValue);
      if (entry === undefined) {
        problem(at(keyOffset), unknownKey(`${group}.${key}`, knownPaths(group, settable)));
      } else if (entry.setting.constant !== undefined) {
        problem(at(keyOffset), `${entry.path} ${constantRefusal(entry.setting)}`);
      } else if (isEmpty(scalar)) {
        continue;
      } else if (entry.setting.secret === true) {
        problem(
          at(keyOffset),
          `${entry.path} must not be in the file, which is no place for a secret: set ${entry.setting.env} in the environment instead`,
        );
      } else if (entry.setting.isList === true && isSeq(scalar) && scalar.items.every((item) => isScalar(item))) {
        values.set(entry.path, {
          text: scalar.items.map((item) => scalarText(item)).join(','),
          where: entry.path,
          layer: at(keyOffset),
        });
      } else if (entry.setting.isStructured === true && isSeq(scalar)) {
        const text = JSON.stringify(scalar.toJS(document));
        values.set(entry.path, { text, where: entry.path, layer: at(keyOffset) });
      } else if (!isScalar(scalar)) {
        problem(
          at(keyOffset),
          `${entry.path} must be ${entry.setting.isStructured === true ? 'a list' : 'a single value'}: expected ${entry.setting.expected}`,
        );
      } else {
        values.set(entry.path, { text: scalarText(scalar), where: entry.path, layer: at(keyOffset) });
      }
    }
  }
  return { values, problems };
}

interface Entry {
  readonly name: string;
  readonly offset: number | undefined;
  readonly value: unknown;
}

function entries(map: YAMLMap): Entry[] {
  return map.items.map((pair: Pair) => {
    const key = pair.key as Node | null;
    const name = isScalar(key) ? String(key.value) : String(key);
    return { name, offset: key?.range?.[0], value: pair.value };
  });
}

function isEmpty(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

/** The scalar as it was written: `80.0` stays `80.0`, and a quoted text is its content. */
function scalarText(scalar: { readonly value: unknown; readonly source?: string }): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
}

/** A key's own group first, so that a tie in spelling is decided for a neighbour. */
function knownPaths(group: string, settingEntries: readonly SettingEntry[]): string[] {
  const paths = settingEntries.filter((entry) => entry.setting.secret !== true);
  return [...paths.filter((entry) => entry.group === group), ...paths.filter((entry) => entry.group !== group)].map(
    (entry) => entry.path,
  );
}

function unknownKey(written: string, names: readonly string[]): string {
  const nearest = closest(written, names);
  return nearest === undefined
    ? `${written} is not a setting: expected one of ${names.join(', ')}`
    : `${written} is not a setting: did you mean ${nearest}?`;
}
