/** `headroom completion`: what a shell may offer next, from the commands themselves, and the scripts that ask for it. */
import { Argument, type Command, InvalidArgumentError, type Option } from 'commander';
import { settingEntries } from '../config.ts';
import { ALL_IN_ONE } from './all-in-one.ts';
import { completionScripts } from './completion-scripts.ts';
import type { CommandTools } from './controller.ts';
import { settingOption } from './setting-option.ts';

type Shell = keyof typeof completionScripts;

/** One word that may come next. */
interface Candidate {
  readonly word: string;
  readonly about: string;
}

interface Completions {
  readonly candidates: readonly Candidate[];
  /** Whether a path of a file may come next. */
  readonly isFile: boolean;
}

const NOTHING: Completions = { candidates: [], isFile: false };

/** Cobra's directives, which kubectl reads: the shell offers files, or none. */
const FILES = 0;
const NO_FILES = 4;

export function addCompletionCommands(program: Command, { output }: CommandTools): void {
  program
    .command('completion')
    .description('print the completion for a shell; docs/command-line.md says where it belongs')
    .addArgument(shellArgument())
    .action((shell: Shell) => output.exact(completionScripts[shell]));
  program
    // For the scripts and for kubectl.
    .command('__complete', { hidden: true })
    .argument('[words...]', 'after --')
    .action((words: readonly string[]) => {
      const { candidates, isFile } = completionsOf(program, words);
      for (const { word, about } of candidates) output.exact(`${word}\t${about}\n`);
      output.exact(`:${isFile ? FILES : NO_FILES}\n`);
    });
}

function shellArgument(): Argument {
  const argument = new Argument('<shell>', 'the shell');
  const shells = Object.keys(completionScripts) as Shell[];
  argument.argChoices = shells;
  return argument.argParser((text): Shell => {
    const shell = shells.find((name) => name === text);
    if (shell === undefined) throw new InvalidArgumentError(`"${text}" is none of ${shells.join(', ')}`);
    return shell;
  });
}

/**
 * What may come next.
 *
 * @param words the words after the program's name. The last one is being written, and may be empty. Bash has "=" as a word.
 */
export function completionsOf(program: Command, words: readonly string[]): Completions {
  const { before, current } = split(words);
  let command = program;
  let given = 0;
  let waiting: Option | undefined;
  for (const word of before) {
    if (waiting !== undefined) waiting = undefined;
    else if (word === '--') return NOTHING;
    else if (word.startsWith('-')) waiting = word.includes('=') ? undefined : valueOption(command, word);
    else {
      const inner = command.commands.find((candidate) => candidate.name() === word);
      if (inner === undefined) given += 1;
      else [command, given] = [inner, 0];
    }
  }
  if (waiting !== undefined) return matching(valuesOf(waiting), current);
  const [flag, value] = splitFlag(current);
  if (value !== undefined) {
    const option = valueOption(command, flag);
    const { candidates, isFile } = option === undefined ? NOTHING : matching(valuesOf(option), value);
    return { candidates: candidates.map(({ word, about }) => ({ word: `${flag}=${word}`, about })), isFile };
  }
  if (current.startsWith('-')) return matching({ candidates: optionsOf(command), isFile: false }, current);
  const argument = command.registeredArguments[given];
  const choices = (argument?.argChoices ?? []).map((word) => ({ word, about: argument?.description ?? '' }));
  const commands = given > 0 ? [] : visibleCommands(command);
  return matching({ candidates: [...commands, ...choices], isFile: false }, current);
}

/** Bash parts words at "=": `--output`, `=` and `js` are `--output js`. */
function split(words: readonly string[]): { readonly before: readonly string[]; readonly current: string } {
  const last = words.at(-1) ?? '';
  const isParted = last === '=';
  const before = words.slice(0, -1).filter((word) => word !== '=');
  return { before, current: isParted ? '' : last };
}

function splitFlag(word: string): readonly [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** The option of a command or of all commands that takes a value, by its flag. */
function valueOption(command: Command, flag: string): Option | undefined {
  const option = inForce(command).find(({ long, short }) => long === flag || short === flag);
  return option === undefined || option.isBoolean() || !(option.required || option.optional) ? undefined : option;
}

function inForce(command: Command): readonly Option[] {
  const own = [...command.options.filter(({ hidden }) => !hidden), ...settingsOf(command)];
  return command.parent === null ? own : [...own, ...inForce(command.parent)];
}

/** `all-in-one` takes every setting and hands it on. */
function settingsOf(command: Command): readonly Option[] {
  if (command.name() !== ALL_IN_ONE) return [];
  return settingEntries.flatMap(({ setting }) =>
    setting.flag === undefined ? [] : [settingOption(setting.flag, setting)],
  );
}

function optionsOf(command: Command): readonly Candidate[] {
  const options = inForce(command).map(({ long, description }) => ({ word: long ?? '', about: description }));
  return [...options, { word: '--help', about: 'what the command takes' }];
}

/** Placeholders of options whose value is a path. */
const PATHS = /<(?:path|folder)>/;

function valuesOf({ argChoices = [], flags, description }: Option): Completions {
  const candidates = argChoices.map((word) => ({ word, about: description }));
  return { candidates, isFile: PATHS.test(flags) };
}

/** As in its help, whose own command nobody needs completed. */
function visibleCommands(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible
    .filter((inner) => inner.name() !== 'help')
    .map((inner) => ({ word: inner.name(), about: inner.description() }));
}

/** Shells take a line for each word. */
function matching({ candidates, isFile }: Completions, start: string): Completions {
  const lines = candidates.map(({ word, about }) => ({ word, about: about.replaceAll(/\s+/g, ' ') }));
  return { candidates: lines.filter(({ word }) => word.startsWith(start)), isFile };
}
