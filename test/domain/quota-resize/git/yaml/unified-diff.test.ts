import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from '../../../../kernel/fast-check.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileEdit } from '../../../../../domain/quota-resize/git/locate/location/location.ts';
import { unifiedDiff } from '../../../../../domain/quota-resize/git/yaml/unified-diff.ts';

let repository = '';

function git(args: readonly string[], input = ''): string {
  return execFileSync('git', args, {
    cwd: repository,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  });
}

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'headroom-diff-'));
  git(['init', '--quiet']);
});
afterAll(() => {
  rmSync(repository, { recursive: true, force: true });
});

function write(edits: readonly FileEdit[], side: 'before' | 'after'): void {
  for (const edit of edits) {
    const file = join(repository, edit.path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    const text = edit[side];
    if (text !== null) {
      writeFileSync(file, text);
    }
  }
}

/** What `git apply` makes of the files with the diff, after it was asked whether it would. */
function applied(edits: readonly FileEdit[]): readonly string[] {
  write(edits, 'before');
  const diff = unifiedDiff(edits);
  if (diff !== '') {
    git(['apply', '--whitespace=nowarn', '--check', '-'], diff);
    git(['apply', '--whitespace=nowarn', '-'], diff);
  }
  return edits.map(({ path, before, after }) =>
    before === after ? after : readFileSync(join(repository, path), 'utf8'),
  );
}

const numbered = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('');

function edit(before: string | null, after: string, path = 'quota.yaml'): FileEdit {
  return { path, before, after };
}

describe('unifiedDiff', () => {
  it('shows one changed line with three lines of context', () => {
    expect(unifiedDiff([edit(numbered, numbered.replace('line 10\n', 'line ten\n'), 'a/quota.yaml')])).toBe(
      [
        'diff --git a/a/quota.yaml b/a/quota.yaml',
        '--- a/a/quota.yaml',
        '+++ b/a/quota.yaml',
        '@@ -7,7 +7,7 @@',
        ' line 7',
        ' line 8',
        ' line 9',
        '-line 10',
        '+line ten',
        ' line 11',
        ' line 12',
        ' line 13',
        '',
      ].join('\n'),
    );
  });

  it('is empty when nothing changes, and passes over files that stay', () => {
    expect(unifiedDiff([])).toBe('');
    expect(unifiedDiff([edit('x\n', 'x\n')])).toBe('');
  });

  it('has a new file as git has it', () => {
    expect(unifiedDiff([edit(null, 'a: 1\nb: 2\n', 'new/patch.yaml')])).toBe(
      [
        'diff --git a/new/patch.yaml b/new/patch.yaml',
        'new file mode 100644',
        '--- /dev/null',
        '+++ b/new/patch.yaml',
        '@@ -0,0 +1,2 @@',
        '+a: 1',
        '+b: 2',
        '',
      ].join('\n'),
    );
  });

  it('sorts the files by path', () => {
    const paths = ['b.yaml', 'a/z.yaml', 'B.yaml', 'a.yaml'];
    const diff = unifiedDiff(paths.map((path) => edit('1\n', '2\n', path)));
    expect([...diff.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => path)).toEqual([
      'B.yaml',
      'a.yaml',
      'a/z.yaml',
      'b.yaml',
    ]);
  });

  it('marks a last line without a newline on the side that has it', () => {
    expect(unifiedDiff([edit('a\nb', 'a\nc\n', 'x')])).toMatch(/^-b\n\\ No newline at end of file\n\+c\n$/m);
  });

  it('shows each of many changes alone, also where lines are added between them', () => {
    const quotas = Array.from(
      { length: 1500 },
      (_, index) => `---\nname: team-${index}\nspec:\n  hard:\n    cpu: "2"\n    pods: 3\n`,
    );
    const before = quotas.join('');
    const after = quotas
      .map((quota) => quota.replace('"2"', '"3"').replace('    pods', '    mem: 1Gi\n    pods'))
      .join('');
    const lines = unifiedDiff([edit(before, after)])
      .split('\n')
      .slice(4);
    expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(1500);
    expect(lines.filter((line) => line.startsWith('+'))).toHaveLength(3000);
  });

  it.each([
    ['the first and the last line', numbered, numbered.replace('line 1\n', 'one\n').replace('line 30', 'thirty')],
    ['lines next to each other', numbered, numbered.replace('line 4\nline 5', 'four\nfive')],
    ['lines whose contexts touch', numbered, numbered.replace('line 4\n', 'four\n').replace('line 11\n', 'eleven\n')],
    ['lines far apart', numbered, numbered.replace('line 4\n', 'four\n').replace('line 12\n', 'twelve\n')],
    ['a last line without a newline', 'a\nb: 1', 'a\nb: 2'],
    ['a line near an end without a newline', 'a: 1\nb', 'a: 2\nb'],
    ['CRLF line ends', 'a: 1\r\nb: 2\r\n', 'a: 1\r\nb: 3\r\n'],
    ['CRLF line ends that become LF', 'a: 1\r\nb: 2\r\n', 'a: 1\nb: 2\n'],
    ['a carriage return alone', 'a\rb\n', 'a\rc\n'],
    ['a line more', numbered, numbered.replace('line 4\n', 'line 4\nnew\n')],
    ['a line less', numbered, numbered.replace('line 30\n', '')],
    ['a newline that is added at the end', 'a\nb', 'a\nb\n'],
    ['a file that was empty', '', 'a\n'],
    ['a file that becomes empty', 'a\n', ''],
    ['a file that is new', null, 'a\nb\n'],
    ['a file that is new and has no newline', null, 'a'],
    ['a file that is new and empty', null, ''],
    ['lines that are moved', 'a\nb\nc\nd\n', 'c\nd\na\nb\n'],
    ['a line that looks like a header', 'a\n-- b\n++ c\n', 'a\n-- d\n++ e\n'],
  ])('git applies a change of %s', (_name, before, after) => {
    expect(applied([edit(before, after)])).toEqual([after]);
  });

  it.each([
    'with space/my quota.yaml',
    'ends with space ',
    ' begins with space',
    'ümlaut/日本.yaml',
    'quo"te.yaml',
    "apo'strophe.yaml",
    'back\\slash.yaml',
    'tab\there.yaml',
    'new\nline.yaml',
    'bell\u0007 and \u0001.yaml',
    '-dash',
    'a/b c/a/b c',
    'x b/x',
  ])('git applies a change and a creation of %j', (path) => {
    expect(applied([edit('a: 1\n', 'a: 2\n', path)])).toEqual(['a: 2\n']);
    expect(applied([edit(null, 'a: 2\n', path)])).toEqual(['a: 2\n']);
  });

  it('replaces all lines where too many differ to look for the shortest diff', () => {
    const lines = (word: string): string => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}\n`).join('');
    const [before, after] = [`${lines('old')}same\n`, `${lines('new')}same`];
    expect(applied([edit(before, after)])).toEqual([after]);
    expect(unifiedDiff([edit(before, after)])).toMatch(/^-same$/m);
  });

  it('reads as the diff that git itself prints, but for blob ids, counts of one line and tabs after names with spaces', () => {
    const edits = [
      edit(numbered, numbered.replace('line 9\n', 'nine\nand a half\n').replace('line 20\n', ''), 'a/one.yaml'),
      edit('a: 1\r\nb: 2', 'a: 3\r\nb: 2', 'a/ümlaut and "quote".yaml'),
      edit('a', 'b', 'with space'),
      // Six lines between two changes are one hunk to git, seven are two.
      edit(numbered, numbered.replace('line 4\n', 'four\n').replace('line 11\n', 'eleven\n'), 'x/six.yaml'),
      edit(numbered, numbered.replace('line 4\n', 'four\n').replace('line 12\n', 'twelve\n'), 'x/seven.yaml'),
      edit(null, 'x\n', 'z new.yaml'),
    ];
    for (const path of ['a', 'z new.yaml', 'with space', '.git/index']) {
      rmSync(join(repository, path), { recursive: true, force: true });
    }
    write(edits, 'before');
    git(['add', '--', ...edits.filter(({ before }) => before !== null).map(({ path }) => path)]);
    write(edits, 'after');
    git(['add', '--intent-to-add', '--', 'z new.yaml']);
    const theirs = git(['diff', '--no-color', '--no-ext-diff', '--no-renames']);
    // After @@ git repeats the line that it takes for a heading.
    const comparable = theirs
      .replaceAll(/^index .*\n/gm, '')
      .replaceAll(/^(@@ .* @@).*$/gm, '$1')
      .replaceAll(/^@@ .*$/gm, (span) => span.replaceAll(/([-+]\d+)(?= )/g, '$1,1'))
      .replaceAll(/^((?:---|\+\+\+) .*)\t$/gm, '$1');
    expect(unifiedDiff(edits)).toBe(comparable);
  });

  it('git makes of any text with its diff exactly the other text', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        ' ',
        'a: 1',
        'b',
        '  c: "2"',
        '---',
        '+++ b',
        '-- x',
        '@@ -1 +1 @@',
        '\\ No newline at end of file',
        'ü',
      ),
      fc.string({ maxLength: 6 }).map((text) => text.replaceAll(/[\r\n\0]/g, '.')),
    );
    const text = fc
      .tuple(fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 40 }), fc.boolean())
      .map(([lines, ended]) => {
        const joined = lines.map(([content, end]) => content + end).join('');
        return ended ? joined : joined.replace(/\r?\n$/, '');
      });
    const related = text.chain((before) =>
      fc
        .array(fc.tuple(fc.nat(), fc.constantFrom('change', 'insert', 'drop'), line), { maxLength: 6 })
        .map((changes) => {
          const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
          for (const [location, what, content] of changes) {
            const at = lines.length === 0 ? 0 : location % lines.length;
            lines.splice(at, what === 'insert' ? 0 : 1, ...(what === 'drop' ? [] : [`${content}\n`]));
          }
          return { before, after: lines.join('') };
        }),
    );
    const unrelated = fc.record({ before: fc.option(text, { nil: null }), after: text });
    const path = fc
      .array(
        fc.string({ minLength: 1, maxLength: 8, unit: 'binary' }).map((name) => name.replaceAll(/[/\0]/g, '_')),
        {
          minLength: 1,
          maxLength: 2,
        },
      )
      .map((names) => names.map((name, index) => (/^\.+$|^\.git/i.test(name) ? 'x' : `${index}${name}`)).join('/'))
      .filter((text) => text.isWellFormed());
    const edits = fc
      .array(fc.tuple(path, fc.oneof(related, unrelated)), { minLength: 1, maxLength: 5 })
      .map((files) => files.map(([name, texts], index) => ({ path: `${index}/${name}`, ...texts })));
    fc.assert(
      fc.property(edits, (files) => {
        expect(applied(files)).toEqual(files.map(({ after }) => after));
        rmSync(repository, { recursive: true, force: true });
        mkdirSync(repository);
        git(['init', '--quiet']);
      }),
      { numRuns: 60 },
    );
  });
});
