import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { policyDefaults } from '../../../../domain/quota-resize/settings.ts';
import type { Config } from '../../../../starter/config.ts';
import { temporaryConfig } from '../../../platform/config/temporary-config.ts';

const TOKEN = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
const base = { CLUSTER_NAME: 'kind' };
const propose = { ...base, HEADROOM_MODE: 'propose', GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops', GITHUB_TOKEN: TOKEN };

const { folder, file, load, refusal } = temporaryConfig();

/** The token of a configuration that has one. */
function tokenOf(github: Config['github']): string | undefined {
  return github?.credential.kind === 'token' ? github.credential.token.reveal() : undefined;
}

describe('the defaults of the policy', () => {
  it('are written as the annotations are', () => {
    const config = load({
      ...base,
      STEPS: 'cpu=1, memory=4Gi',
      APPROVAL: 'before-merge',
      APPROVAL_REMINDER: '90m',
      APPROVAL_TIMEOUT: '7d',
      FREEZE_UNTIL: '2026-12-27',
      MERGE_WINDOWS: '0 9 * * 1-5 for 8h in Europe/Berlin',
      BURST: 'fill',
      HEADROOM_REJECTION_COOLDOWN: '48h',
    });
    expect(policyDefaults(config)).toMatchObject({
      steps: { cpu: '1', memory: '4Gi' },
      approval: 'before-merge',
      approvalReminder: 5_400_000,
      approvalTimeout: 604_800_000,
      freezeUntil: Date.UTC(2026, 11, 27),
      mergeWindows: [{ cron: '0 9 * * 1-5', duration: 28_800_000, zone: 'Europe/Berlin' }],
      burst: 'fill',
      rejectionCooldown: 172_800_000,
    });
  });

  it.each([
    ['STEPS', 'cpu=0', 'expected "none", or quantities above 0'],
    ['APPROVAL', 'yes', 'expected "none", "before-pull-request" or "before-merge"'],
    ['APPROVAL_TIMEOUT', '100ms', 'expected a duration such as "90m", "24h" or "7d", from 1s to 92d, or "never"'],
    ['FREEZE_UNTIL', 'tomorrow', 'expected a date or a moment such as "2026-12-27"'],
    ['MERGE_WINDOWS', '0 0 30 2 * for 1h', '("0 0 30 2 *" never comes)'],
    ['BURST', 'more', 'expected "settle" or "fill"'],
  ])('%s=%s is rejected with what would be right', (name, value, says) => {
    expect(refusal({ ...base, [name]: value })).toContain(`${name} (environment): "${value}" is not valid: `);
    expect(refusal({ ...base, [name]: value })).toContain(says);
  });
});

describe('dry run', () => {
  it('wins over the mode, and a notice says so', () => {
    const config = load({ ...propose, DRY_RUN: 'true' }, '--mode', 'propose');
    expect(policyDefaults(config)).toMatchObject({ mode: 'observe', dryRun: true });
    expect(config.notices).toContain('DRY_RUN wins over mode "propose": Headroom only observes.');
  });

  it('needs no GitHub', () => {
    expect(load({ ...base, DRY_RUN: 'true' }, '--mode', 'propose').github).toBeUndefined();
  });

  it('says nothing when nobody asked to propose', () => {
    expect(load({ ...propose, HEADROOM_MODE: 'observe', DRY_RUN: 'true' }).notices).toEqual([]);
  });
});

describe('GitHub', () => {
  it('is complete in mode propose', () => {
    const { github } = load({ ...propose, GITHUB_API_URL: 'http://127.0.0.1:9/api/v3/', GITHUB_BASE_BRANCH: 'main' });
    expect(github).toMatchObject({
      apiUrl: 'http://127.0.0.1:9/api/v3',
      owner: 'acme',
      repo: 'gitops',
      baseBranch: 'main',
      graphQl: 'auto',
    });
    expect(tokenOf(github)).toBe(TOKEN);
  });

  it('is asked for by name in mode propose', () => {
    const message = refusal({ ...base, GITHUB_OWNER: 'acme' }, '--mode', 'propose');
    expect(message).toContain('GITHUB_REPO: is required in mode "propose"');
    expect(message).toContain('GITHUB_TOKEN, GITHUB_TOKEN_FILE or GITHUB_APP_ID: is required in mode "propose"');
    expect(message).not.toContain('GITHUB_OWNER');
  });

  it('may be absent for observing, and a notice says what that means', () => {
    expect(load(base).notices).toEqual([
      'Without GITHUB_OWNER, GITHUB_REPO, GITHUB_TOKEN, GITHUB_TOKEN_FILE or GITHUB_APP_ID Headroom can only observe, also where an annotation asks it to propose.',
    ]);
  });

  it('follows a token file that is rotated, also through a moment without it', () => {
    const path = file('token', 'first-token\n');
    const { GITHUB_TOKEN: _none, ...env } = propose;
    const { github } = load({ ...env, GITHUB_TOKEN_FILE: path });
    expect(tokenOf(github)).toBe('first-token');
    writeFileSync(path, '');
    expect(tokenOf(github)).toBe('first-token');
    rmSync(path);
    expect(tokenOf(github)).toBe('first-token');
    writeFileSync(path, 'second-token');
    expect(tokenOf(github)).toBe('second-token');
  });

  it('rejects a token file that is missing or empty, and a token in two places', () => {
    const { GITHUB_TOKEN: _none, ...env } = propose;
    expect(refusal({ ...env, GITHUB_TOKEN_FILE: join(folder(), 'none') })).toContain('GITHUB_TOKEN_FILE: cannot read');
    expect(refusal({ ...env, GITHUB_TOKEN_FILE: file('empty', '\n') })).toContain('the file is empty');
    expect(refusal({ ...propose, GITHUB_TOKEN_FILE: file('token', 'x') })).toContain(
      'GITHUB_TOKEN: is set and GITHUB_TOKEN_FILE is set as well: keep one of them',
    );
  });
});
