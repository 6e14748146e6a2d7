/** That a chaos run would notice what it promises never happens. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteExchange } from '../kernel/forge/http/write-log.ts';
import { createGitOpsRepository } from '../kernel/stack/gitops-repository.ts';
import { limitsOverTime, stepsDown } from './limits.ts';
import { doubleWrites } from './pull-request-journal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chaos-limits-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a limit', () => {
  it('that went down and up again is found in the history of its file', async () => {
    const gitDir = join(folder, 'gitops.git');
    const manifest = (limit: number) => `spec:\n  hard:\n    secrets: "${limit}" # a comment\n`;
    await createGitOpsRepository(gitDir, { 'quota.yaml': manifest(1), 'other.yaml': manifest(9) });
    const work = join(folder, 'work');
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
    git('clone', '--quiet', gitDir, work);
    for (const limit of [3, 2, 4]) {
      writeFileSync(join(work, 'quota.yaml'), manifest(limit));
      git('-C', work, 'commit', '--quiet', '--all', '--message', `secrets: ${limit}`);
    }
    git('-C', work, 'push', '--quiet', 'origin', 'main');
    const limits = await limitsOverTime(gitDir, 'quota.yaml');
    expect(limits).toEqual([1, 3, 2, 4]);
    expect(stepsDown(limits)).toEqual(['the limit went from 3 to 2']);
    expect(stepsDown(await limitsOverTime(gitDir, 'other.yaml'))).toEqual([]);
  });

  it('that is no number any more went down', () => {
    expect(stepsDown([1, Number.NaN])).toEqual(['the limit went from 1 to NaN']);
  });
});

describe('the writes to the forge', () => {
  const write = (method: string, path: string, more: Partial<WriteExchange> = {}): WriteExchange => ({
    at: '2026-01-01T00:00:00.000Z',
    method,
    path,
    status: 200,
    effect: true,
    requestBody: {},
    responseBody: {},
    user: 'headroom',
    branch: 'headroom/test/team/objects/d1',
    decision: 'd1',
    ...more,
  });
  const opening = (number: number, at: string, decision = 'd1') =>
    write('POST', '/repos/a/b/pulls', {
      at,
      decision,
      branch: `headroom/test/team/objects/${decision}`,
      responseBody: { number },
    });
  const closing = (number: number, at: string) =>
    write('PATCH', `/repos/a/b/pulls/${number}`, { at, requestBody: { state: 'closed' } });

  it('are fine with one pull request after the other', () => {
    const writes = [opening(1, '01'), closing(1, '02'), opening(2, '03', 'd2')];
    expect(doubleWrites(writes, new Map())).toEqual([]);
  });

  it('are not with two that are open at once, nor with two for one decision', () => {
    expect(doubleWrites([opening(1, '01'), opening(2, '02', 'd2'), closing(1, '03')], new Map())).toEqual([
      'team: #2 was opened at 02 while #1 was open (until 03)',
    ]);
    expect(doubleWrites([opening(1, '01'), closing(1, '02'), opening(2, '03')], new Map())).toEqual([
      'headroom/test/team/objects/d1: 2 pull requests',
    ]);
    const merge = write('PUT', '/repos/a/b/pulls/1/merge');
    expect(doubleWrites([merge, merge, { ...merge, effect: false }], new Map())).toEqual([
      'headroom/test/team/objects/d1: 2 merges',
    ]);
  });
});
