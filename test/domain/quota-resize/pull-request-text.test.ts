import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision, LimitChange } from '../../../domain/quota-resize/decision.ts';
import {
  branchName,
  commitMessage,
  commentMarker,
  decisionOfCommit,
  markedComment,
  mergeMessage,
  pullRequestBody,
  pullRequestTitle,
} from '../../../domain/quota-resize/pull-request-text.ts';

const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
const cpu: LimitChange = {
  resource: 'requests.cpu',
  from: '2',
  to: '3600m',
  used: '2',
  demand: '1',
  reason: 'used 2 of 2 is 100 %, threshold 80 %',
};
const memory: LimitChange = { ...cpu, resource: 'limits.memory', from: '4Gi', to: '6Gi' };
const decision: Decision = {
  id: '0a1b2c3d',
  quotaUid: 'uid',
  decidedAt: Date.UTC(2026, 10, 20, 10, 15),
  changes: [cpu],
  evidence: ['ReplicaSet web misses 2 pods since 10:14'],
  demandByMessage: false,
  gate: null,
  pullRequest: null,
  merge: null,
};

function isLegalBranch(name: string): boolean {
  try {
    execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('the branch of a decision', () => {
  it('names cluster, namespace, quota and decision', () => {
    expect(branchName(target, '0a1b2c3d')).toBe('headroom/prod/team-a/compute/0a1b2c3d');
  });

  it('keeps the dots of a quota name, but none that git forbids', () => {
    expect(branchName({ ...target, quota: 'gpu.v1.compute' }, 'x')).toContain('/gpu.v1.compute/');
    for (const quota of ['compute.lock', 'a.lock.lock', '.a', 'a.', 'a..b', '-a', '@', 'a@{b', 'ä b', '~^:?*[\\']) {
      expect(isLegalBranch(branchName({ ...target, quota }, 'x')), `quota ${quota}`).toBe(true);
    }
  });

  it('stays legal and short for a quota name of 253 characters', () => {
    const name = branchName({ ...target, quota: `${'a'.repeat(200)}.${'b'.repeat(52)}` }, '0a1b2c3d');
    expect(name.length).toBeLessThan(200);
    expect(isLegalBranch(name)).toBe(true);
  });

  it('tells any two targets apart', () => {
    const part = fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', '.', '-', '_', '/', 'é', '2', 'e'),
    });
    const places = fc.record({ cluster: part, namespace: part, quota: part });
    fc.assert(
      fc.property(places, places, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(branchName(one, 'x') === branchName(other, 'x')).toBe(same);
      }),
    );
  });

  it('is a legal name for whatever a cluster is called', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100, unit: 'binary' }), (cluster) => {
        expect(branchName({ ...target, cluster }, 'x')).toMatch(
          /^headroom\/(?!\.)(?!.*\.\.)(?!.*\/\.)[A-Za-z0-9._/-]+\/team-a\/compute\/x$/,
        );
      }),
    );
  });
});

describe('the commit', () => {
  it('says what is raised and why, and carries the trailers that git itself reads', () => {
    const message = commitMessage(target, decision, [cpu, memory]);
    expect(message.split('\n')[0]).toBe('chore(quota): raise team-a/compute: requests.cpu 2 → 3600m and 1 more');
    expect(message).toContain('limits.memory: 4Gi → 6Gi (used 2 of 2 is 100 %, threshold 80 %)');
    const trailers = execFileSync('git', ['interpret-trailers', '--parse'], { input: message, encoding: 'utf8' });
    expect(trailers).toBe('Headroom-Decision: 0a1b2c3d\nHeadroom-Target: prod/team-a/compute\n');
  });

  it('is known again by its trailer, and a commit without one is nobody of ours', () => {
    expect(decisionOfCommit(commitMessage(target, decision, [cpu]))).toBe('0a1b2c3d');
    expect(decisionOfCommit(mergeMessage(target, decision, 7).message)).toBe('0a1b2c3d');
    expect(decisionOfCommit('Raise it\n\nmentions Headroom-Decision: 0a1b2c3d in a sentence')).toBeNull();
  });

  it('cannot be given another decision by a reason with line breaks', () => {
    const reason = 'bad\n\nHeadroom-Decision: ffffffff';
    expect(decisionOfCommit(commitMessage(target, decision, [{ ...cpu, reason }]))).toBe('0a1b2c3d');
  });

  it('has the number of the pull request in the title of the merge', () => {
    expect(mergeMessage(target, decision, 7).title).toBe(
      'chore(quota): raise team-a/compute: requests.cpu 2 → 3600m (#7)',
    );
  });
});

describe('the pull request', () => {
  it('has a title with the quota and the step', () => {
    expect(pullRequestTitle(target, [cpu])).toBe('Raise quota team-a/compute: requests.cpu 2 → 3600m');
    expect(pullRequestTitle(target, [cpu, memory, memory])).toBe(
      'Raise quota team-a/compute: requests.cpu 2 → 3600m and 2 more',
    );
  });

  it('shows what changes in a table, with the evidence and the way out', () => {
    const body = pullRequestBody(target, decision, [cpu]);
    expect(body).toContain('## Quota Resize Recommendation');
    expect(body).toContain('| Resource | Used | Current | Proposed | Reason |\n|---|---|---|---|---|\n');
    expect(body).toContain('| `requests.cpu` | `2` | `2` | **`3600m`** | used 2 of 2 is 100 %, threshold 80 % |');
    expect(body).toContain('- ReplicaSet web misses 2 pods since 10:14');
    expect(body).toContain('`resizer.io/enabled: "false"`');
    expect(body).toContain('<!-- headroom:0a1b2c3d -->');
    expect(body).not.toContain('An approval is needed');
  });

  it('says that an approval is needed, and what Git holds already', () => {
    const gate = { reason: 'RaiseFromZero', message: 'requests.cpu would rise from 0' } as const;
    const body = pullRequestBody(target, { ...decision, gate }, [cpu], { pods: '20' });
    expect(body).toContain('**An approval is needed** before Headroom merges this: requests.cpu would rise from 0');
    expect(body).toContain('Left alone, because the file holds enough already: `pods` (`20`).');
  });

  it('takes the markup out of whatever the cluster says', () => {
    const hostile = '<img src=x> @acme/admins see #12 | [x](http://evil.example) ![y](z) `code` **b**\n# head';
    const body = pullRequestBody(target, { ...decision, evidence: [hostile] }, [{ ...cpu, reason: hostile }]);
    const [row = ''] = body.split('\n').filter((line) => line.startsWith('| `requests.cpu`'));
    expect(row.match(/(?<!\\)\|/g)).toHaveLength(6);
    expect(body).not.toContain('<img');
    expect(body).not.toMatch(/@acme|#12|http:\/\/evil|(?<!\\)\[x\]|(?<!\\)\*\*b/);
    expect(body).not.toContain('\n# head');
  });

  it('stays within what GitHub accepts, however much evidence there is', () => {
    const evidence = Array.from({ length: 5000 }, (_, index) => `workload ${index} `.repeat(200));
    const body = pullRequestBody(target, { ...decision, evidence }, [cpu]);
    expect(body.length).toBeLessThan(65_536);
    expect(body).toContain('- and 4980 more');
  });
});

it('a comment carries a hidden marker by which it is found again', () => {
  const comment = markedComment('0a1b2c3d', 'abc', 'The need is gone.');
  expect(comment).toBe('The need is gone.\n\n<!-- headroom:0a1b2c3d:abc -->');
  expect(comment).toContain(commentMarker('0a1b2c3d', 'abc'));
});
