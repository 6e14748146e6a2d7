import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { closest } from './closest.ts';
import type { ConfigProblem, WrittenValue } from '../../domain/kernel/settings/setting.ts';
import type { PlacedSetting } from './settings.ts';

/** What a configuration file says: the text of each setting by its path, and what is wrong with the file. */
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
  placedSettings: readonly PlacedSetting[],
): ConfigFileContent {
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
    const members = placedSettings.filter((placed) => placed.group === group);
    if (members.length === 0) {
      problem(at(offset), unknownKey(group, [...new Set(placedSettings.map((placed) => placed.group))]));
      continue;
    }
    const map = resolved(value);
    if (isEmpty(map)) continue;
    if (!isMap(map)) {
      problem(at(offset), `${group} must be a map of ${members.map((placed) => placed.key).join(', ')}`);
      continue;
    }
    for (const { name: key, offset: keyOffset, value: keyValue } of entries(map)) {
      const placed = members.find((member) => member.key === key);
      const scalar = resolved(keyValue);
      if (placed === undefined) {
        problem(at(keyOffset), unknownKey(`${group}.${key}`, knownPaths(group, placedSettings)));
      } else if (isEmpty(scalar)) {
        continue;
      } else if (placed.setting.secret === true) {
        problem(
          at(keyOffset),
          `${placed.path} must not be in the file, which is no place for a secret: set ${placed.setting.env} in the environment instead`,
        );
      } else if (placed.setting.isList === true && isSeq(scalar) && scalar.items.every((item) => isScalar(item))) {
        values.set(placed.path, {
          text: scalar.items.map((item) => scalarText(item)).join(','),
          where: placed.path,
          layer: at(keyOffset),
        });
      } else if (!isScalar(scalar)) {
        problem(at(keyOffset), `${placed.path} must be a single value: expected ${placed.setting.expected}`);
      } else {
        values.set(placed.path, { text: scalarText(scalar), where: placed.path, layer: at(keyOffset) });
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
function knownPaths(group: string, placedSettings: readonly PlacedSetting[]): string[] {
  const paths = placedSettings.filter((placed) => placed.setting.secret !== true);
  return [...paths.filter((placed) => placed.group === group), ...paths.filter((placed) => placed.group !== group)].map(
    (placed) => placed.path,
  );
}

function unknownKey(written: string, known: readonly string[]): string {
  const nearest = closest(written, known);
  return nearest === undefined
    ? `${written} is not a setting: expected one of ${known.join(', ')}`
    : `${written} is not a setting: did you mean ${nearest}?`;
}
