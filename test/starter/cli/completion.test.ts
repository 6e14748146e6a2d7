import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controllerNames } from '../../../domain/kernel/controllers.ts';
import { createCommandLine } from '../../../starter/cli/command-line.ts';
import { completionsOf } from '../../../starter/cli/completion.ts';
import { settingEntries } from '../../../starter/config.ts';
import { headroom } from '../run-program.ts';

const stream = { write: () => true };
const { program } = createCommandLine({ env: {}, stdout: stream, stderr: stream, readStdin: () => '' });

function offered(...words: readonly string[]): readonly string[] {
  return completionsOf(program, words).candidates.map(({ word }) => word);
}

describe('what may come next', () => {
  it('is every command that is shown, and no hidden one', () => {
    const shown = program.createHelp().visibleCommands(program);
    const names = shown.map((command) => command.name()).filter((name) => name !== 'help');
    expect(offered('')).toEqual(names);
    expect(offered('lights-out', 'st')).toEqual(['status']);
    expect(offered('explain', '')).toEqual(['quota-resize']);
  });

  it('is the flags of the command, and those of all commands, after a dash', () => {
    expect(offered('sources', '--')).toEqual([
      '--repo',
      '--cluster',
      '--template',
      '--version',
      '--cluster-name',
      '--config',
      '--kubeconfig',
      '--context',
      '--output',
      '--help',
    ]);
    expect(offered('--out')).toEqual(['--output']);
  });

  it('is every setting that has a flag for all-in-one, and its values', () => {
    const flags = settingEntries.flatMap(({ setting }) => setting.flag ?? []);
    expect(offered('all-in-one', '--')).toEqual(expect.arrayContaining(flags));
    expect(offered('all-in-one', '--log-level', '')).toEqual(['trace', 'debug', 'info', 'warn', 'error']);
    expect(offered('all-in-one', '--dry-run', '--usage-mode', 'a')).toEqual(['audit']);
  });

  it('is the values of an enum, however it is written', () => {
    const forms = ['text', 'json', 'table'];
    expect(offered('list', '--output', '')).toEqual(forms);
    expect(offered('--output', '')).toEqual(forms);
    expect(offered('list', '--output=j')).toEqual(['--output=json']);
    // As bash parts it.
    expect(offered('list', '--output', '=')).toEqual(forms);
    expect(offered('list', '--output', '=', 't')).toEqual(['text', 'table']);
    expect(offered('pause', '--controller', '')).toEqual(controllerNames);
    expect(offered('explain', 'quota-resize', '--mode', 'p')).toEqual(['propose']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('is a path of a file where a flag takes one, and nothing where nobody knows', () => {
    expect(completionsOf(program, ['sources', '--repo', ''])).toEqual({ candidates: [], isFile: true });
    expect(completionsOf(program, ['--kubeconfig', './'])).toEqual({ candidates: [], isFile: true });
    expect(completionsOf(program, ['status', 'team-a/'])).toEqual({ candidates: [], isFile: false });
    expect(completionsOf(program, ['pause', '--reason', ''])).toEqual({ candidates: [], isFile: false });
    expect(completionsOf(program, ['completion', 'bash', ''])).toEqual({ candidates: [], isFile: false });
    expect(completionsOf(program, ['list', '--', ''])).toEqual({ candidates: [], isFile: false });
  });

  it('is printed as kubectl reads it: a word, a tab, what it is, and a directive at the end', async () => {
    const { code, stdout } = await headroom(['__complete', '--', 'lights-out', 'st']);
    const about = 'where a schedule stands: what is down, what is left alone and why, what fails';
    expect({ code, stdout }).toEqual({ code: 0, stdout: `status\t${about}\n:4\n` });
    expect((await headroom(['__complete', '--', 'sources', '--repo', ''])).stdout).toBe(':0\n');
  });
});

describe('the script of a shell', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'completion-'));
    // Answers as the program does, and says with which words it was asked.
    const program = `#!/bin/sh\necho "$*" >>${folder}/asked\ncase "$*" in\n*--repo*) echo ':0' ;;\n*) printf 'list\\tlist what: runs\\nlights-out\\tsleep\\n:4\\n' ;;\nesac\n`;
    writeFileSync(join(folder, 'headroom'), program);
    chmodSync(join(folder, 'headroom'), 0o755);
    writeFileSync(join(folder, 'values.yaml'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('for bash offers what the program answers, and files where it says so', async () => {
    writeFileSync(join(folder, 'script'), (await headroom(['completion', 'bash'])).stdout);
    const ask = (...words: readonly string[]): string =>
      execFileSync(
        'bash',
        [
          '-c',
          'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _headroom; IFS=,; echo "${COMPREPLY[*]}"',
          'bash',
          './headroom',
          ...words,
        ],
        { cwd: folder, encoding: 'utf8' },
      );
    expect(ask('l')).toBe('list,lights-out\n');
    expect(ask('sources', '--repo', 'val')).toBe('values.yaml\n');
    expect(ask('sources', '--repo', '=')).toContain('values.yaml');
    const shown = execFileSync('bash', ['-c', 'source ./script; complete -p headroom'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(shown).toContain('-F _headroom headroom');
  });

  it.each(['zsh', 'fish'])('for %s asks the program as that for bash does', async (shell) => {
    const { code, stdout } = await headroom(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/"?\$\{?words\[1\]\}?"? __complete -- /);
    const installed = [`/bin/${shell}`, `/usr/bin/${shell}`].find(existsSync);
    if (installed === undefined) return;
    writeFileSync(join(folder, 'script'), stdout);
    // Reads it without running it.
    execFileSync(installed, ['-n', 'script'], { cwd: folder });
  });

  it('for another shell is refused with those that there are', async () => {
    const { code, stderr } = await headroom(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(stderr).toContain('error: "tcsh" is none of bash, zsh, fish\n');
  });
});
