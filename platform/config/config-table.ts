import { pairNames } from '../../domain/kernel/controllers.ts';
import type { Setting } from '../../domain/kernel/settings/setting.ts';
import { allConstants, allSettings, type ControllerSettings, settingTitles } from './config.ts';
import { configFileSetting, type SettingEntry } from './settings.ts';

const START = '<!-- configuration:start -->';
const END = '<!-- configuration:end -->';
const CONSTANTS_START = '<!-- constants:start -->';
const CONSTANTS_END = '<!-- constants:end -->';

/**
 * All settings as one Markdown table: environment variable, flag, path in the file, default, meaning. Its columns are
 * aligned, as the formatter of the documents wants them.
 */
function configurationTable(controllers: ControllerSettings): string {
  const head = ['Environment', 'Flag', 'In the file', 'Default', 'What it sets'];
  const rows = [
    head,
    row(configFileSetting, undefined),
    ...groups(controllers).flatMap(([title, members]) => [
      [`**${title}**`, '', '', '', ''],
      ...members.map(({ setting, path }) => row(setting, path)),
    ]),
  ];
  return aligned(rows);
}

/** What is a constant, as a Markdown table: its path, its value, what it is, and why nobody would turn it. */
function constantsTable(controllers: ControllerSettings): string {
  return aligned([
    ['Constant', 'Value', 'What it is', 'Why it is no setting'],
    ...allConstants(controllers).map(({ path, setting }) => [
      code(path),
      code(setting.default ?? setting.constant?.value ?? ''),
      setting.description,
      setting.constant?.why ?? '',
    ]),
  ]);
}

function aligned(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [, ...others] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

/**
 * The document with the tables between their markers brought up to date.
 *
 * @throws {Error} when the document does not have all markers.
 */
export function withConfigurationTable(document: string, controllers: ControllerSettings): string {
  const settings = between(document, START, END, configurationTable(controllers));
  return between(settings, CONSTANTS_START, CONSTANTS_END, constantsTable(controllers));
}

function between(document: string, first: string, last: string, table: string): string {
  const start = document.indexOf(first);
  const end = document.indexOf(last);
  if (start < 0 || end < start) throw new Error(`the document needs the lines ${first} and ${last}, in this order`);
  return `${document.slice(0, start + first.length)}\n\n${table}\n\n${document.slice(end)}`;
}

/** The text of `--help`. */
export function configurationHelp(program: string, controllers: ControllerSettings): string {
  const words = program === 'all-in-one' ? '' : ' [controller ...]';
  const lines = [`Usage: ${program}${words} [--flag value ...]`, '', ...helpEntry(configFileSetting, undefined)];
  if (words !== '')
    lines.splice(1, 0, '', `Controllers that run in this ${program} and no others: ${pairNames.join(', ')}.`);
  for (const [title, members] of groups(controllers)) {
    lines.push('', `${title}:`, ...members.flatMap(({ setting, path }) => helpEntry(setting, path)));
  }
  lines.push(
    '',
    'Each setting comes from its flag, else its environment variable, else the file, else its default.',
    'Durations are written as 500ms, 15s, 10m or 1h30m.',
  );
  return `${lines.join('\n')}\n`;
}

function groups(controllers: ControllerSettings): [string, SettingEntry[]][] {
  const settingEntries = allSettings(controllers);
  return Object.entries(settingTitles(controllers)).flatMap(([group, title]): [string, SettingEntry[]][] => {
    const members = settingEntries.filter((entry) => entry.group === group);
    return members.length === 0 ? [] : [[title, members]];
  });
}

function row(setting: Setting, path: string | undefined): string[] {
  return [
    code(setting.env),
    setting.flag === undefined ? '' : code(setting.flag),
    path === undefined || setting.secret === true ? '' : code(path),
    defaultOf(setting, code),
    setting.description,
  ];
}

function defaultOf(setting: Setting, mark: (text: string) => string): string {
  if (setting.required === true) return 'required';
  if (setting.default === undefined) return '';
  return setting.podDefault === undefined
    ? mark(setting.default)
    : `${mark(setting.default)}, in a pod ${mark(setting.podDefault)}`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function helpEntry(setting: Setting, path: string | undefined): string[] {
  const names = [
    setting.flag,
    setting.env,
    path === undefined || setting.secret === true ? undefined : `${path} in the file`,
  ].filter((name) => name !== undefined);
  const stated = defaultOf(setting, (text) => text);
  const ending = stated === '' ? '' : stated === 'required' ? ' Required.' : ` Default: ${stated}.`;
  return [`  ${names.join(', ')}`, `      ${setting.description}${ending}`];
}
