import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../../domain/quota-resize/manifest.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headroom-diff-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What `git apply` makes of the old text with the diff. */
function applied(path: string, before: string, diff: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, before);
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
    cwd: folder,
    input: diff,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return readFileSync(file, 'utf8');
}

const numbered = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('');

describe('unifiedDiff', () => {
  it('shows one changed line with three lines of context', () => {
    expect(unifiedDiff('a/quota.yaml', numbered, numbered.replace('line 10\n', 'line ten\n'))).toBe(
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

  it('is empty for equal texts', () => {
    expect(unifiedDiff('a', 'x\n', 'x\n')).toBe('');
  });

  it.each([
    ['the first and the last line', numbered, numbered.replace('line 1\n', 'one\n').replace('line 30', 'thirty')],
    ['lines next to each other', numbered, numbered.replace('line 4\nline 5', 'four\nfive')],
    ['lines whose contexts touch', numbered, numbered.replace('line 4\n', 'four\n').replace('line 11\n', 'eleven\n')],
    ['lines far apart', numbered, numbered.replace('line 4\n', 'four\n').replace('line 12\n', 'twelve\n')],
    ['a last line without a newline', 'a\nb: 1', 'a\nb: 2'],
    ['a line near an end without a newline', 'a: 1\nb', 'a: 2\nb'],
    ['CRLF line ends', 'a: 1\r\nb: 2\r\n', 'a: 1\r\nb: 3\r\n'],
    ['a line more', numbered, numbered.replace('line 4\n', 'line 4\nnew\n')],
    ['a line less', numbered, numbered.replace('line 30\n', '')],
    ['a newline that is added at the end', 'a\nb', 'a\nb\n'],
    ['a file that was empty', '', 'a\n'],
  ])('git applies a change of %s', (_name, before, after) => {
    expect(applied('quota.yaml', before, unifiedDiff('quota.yaml', before, after))).toBe(after);
  });

  it.each(['with space/my quota.yaml', 'ümlaut.yaml', 'quo"te.yaml', 'tab\there.yaml'])(
    'git applies a change of %j',
    (path) => {
      expect(applied(path, 'a: 1\n', unifiedDiff(path, 'a: 1\n', 'a: 2\n'))).toBe('a: 2\n');
    },
  );
});
