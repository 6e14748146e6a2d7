import { describe, expect, it } from 'vitest';
import { fileLeaseAnnotations, fileLeaseLabels } from '../../../../domain/quota-resize/model/lease.ts';
import { tellOf } from '../../../../starter/quota-resize/lease-watch.ts';
import { readDelivery } from '../../../../starter/quota-resize/webhooks/delivery.ts';
import { PullRequestIndex } from '../../../../starter/quota-resize/webhooks/pull-request-index.ts';
import { HEAD, lease, NOW, payloads } from './payloads.ts';

/** The quotas that an event wakes, with these Leases in the cluster. */
function woken(event: string, payload: unknown, leases = [lease('compute')]): readonly string[] {
  const index = new PullRequestIndex('prod');
  for (const lease of leases) tellOf(lease, [index]);
  const read = readDelivery(event, payload);
  return read === null
    ? ['ignored']
    : index
        .find(read)
        .map(
          ({ target: { cluster, namespace, quota }, isFileChanged }) =>
            `${cluster}/${namespace}/${quota}${isFileChanged ? ', its file' : ''}`,
        );
}

const ours = ['prod/team-a/compute'];

describe('whom a webhook is for', () => {
  it('is told by the number of the pull request, and another number is nobody of ours', () => {
    expect(woken('pull_request', payloads.pull_request(7))).toEqual(ours);
    expect(woken('pull_request_review', payloads.pull_request_review(7))).toEqual(ours);
    expect(woken('issue_comment', payloads.issue_comment(7))).toEqual(ours);
    expect(woken('pull_request_review', payloads.pull_request_review(8))).toEqual([]);
    expect(woken('issue_comment', payloads.issue_comment(7, false)), 'an issue').toEqual([]);
  });

  it('is told by the head, the branch or the numbers of a check', () => {
    const other = 'c'.repeat(40);
    expect(woken('check_run', payloads.check_run())).toEqual(ours);
    expect(woken('check_suite', payloads.check_suite())).toEqual(ours);
    expect(woken('status', payloads.status())).toEqual(ours);
    expect(woken('check_run', payloads.check_run({ head_sha: other }))).toEqual([]);
    expect(woken('check_run', payloads.check_run({ head_sha: other, pull_requests: [{ number: 7 }] }))).toEqual(ours);
    const suite = payloads.check_suite({ head_sha: other, head_branch: 'headroom/team-a/7' });
    expect(woken('check_suite', suite), 'a head that the Lease does not have yet').toEqual(ours);
    const status = { ...payloads.status(['headroom/team-a/7']), sha: other };
    expect(woken('status', status)).toEqual(ours);
  });

  it('is every open pull request of a base that moved, and the one whose branch was pushed to', () => {
    const leases = [
      lease('compute'),
      lease('objects', { number: 8, branch: 'headroom/team-a/8', headSha: 'd'.repeat(40) }),
      lease('release', { number: 9, branch: 'headroom/team-a/9', base: 'release', headSha: 'e'.repeat(40) }),
    ];
    expect(woken('push', payloads.push('main'), leases)).toEqual(['prod/team-a/compute', 'prod/team-a/objects']);
    expect(woken('push', payloads.push('headroom/team-a/9'), leases)).toEqual(['prod/team-a/release']);
    expect(woken('push', { ...payloads.push(), ref: 'refs/tags/main' }, leases)).toEqual([]);
  });

  it('is told apart where the push to the base changed the file of the pull request', () => {
    const leases = [
      lease('compute'),
      lease('objects', { number: 8, branch: 'headroom/team-a/8', headSha: 'd'.repeat(40), path: 'objects.yaml' }),
      lease('release', { number: 9, branch: 'headroom/team-a/9', headSha: 'e'.repeat(40), base: 'release' }),
    ];
    const [compute, objects] = ['prod/team-a/compute', 'prod/team-a/objects'];
    expect(woken('push', payloads.push('main', ['quota.yaml']), leases)).toEqual([`${compute}, its file`, objects]);
    expect(woken('push', payloads.push('main', ['other.yaml']), leases)).toEqual([compute, objects]);
    const removed = { ...payloads.push(), commits: [{ added: ['new.yaml'], removed: ['objects.yaml'], modified: [] }] };
    expect(woken('push', removed, leases)).toEqual([compute, `${objects}, its file`]);
  });

  it('is nobody in another repository, whatever the number, and the case of a name does not matter', () => {
    const elsewhere = { ...payloads.pull_request(7), repository: { full_name: 'acme/app' } };
    expect(woken('pull_request', elsewhere)).toEqual([]);
    const shouted = { ...payloads.pull_request(7), repository: { full_name: 'ACME/GitOps' } };
    expect(woken('pull_request', shouted)).toEqual(ours);
  });

  it('is nobody for a decision without a pull request, with a merged one, or that no longer holds its Lease', () => {
    const merge = { sha: HEAD, at: NOW, by: 'mona', limits: {} };
    for (const idle of [
      lease('compute', null),
      lease('compute', {}, { merge }),
      lease('compute', {}, { holder: null }),
      lease('compute', {}, { holder: 'headroom/ffffffff' }),
      lease('compute', {}, { holder: 'pr-7' }),
    ]) {
      expect(woken('pull_request', payloads.pull_request(7), [idle])).toEqual([]);
    }
  });

  it('is not the Lease that locks a file', () => {
    const holder = { namespace: 'team-a', quota: 'compute', holder: 'headroom/1', at: 0 };
    const lock = { holders: [holder], queue: [] };
    const file = { repository: 'acme/gitops', path: 'quota.yaml' };
    const locked = {
      ...lease('compute'),
      metadata: {
        name: 'file-1',
        labels: fileLeaseLabels,
        annotations: fileLeaseAnnotations(lease('compute').metadata?.annotations ?? {}, file, lock, 'prod'),
      },
    };
    expect(woken('pull_request', payloads.pull_request(7), [locked])).toEqual([]);
  });

  it('follows a Lease that changes and is deleted', () => {
    const index = new PullRequestIndex('prod');
    const numbers = () =>
      [7, 8].filter((number) => {
        const event = readDelivery('issue_comment', payloads.issue_comment(number));
        return event !== null && index.find(event).length > 0;
      });
    tellOf(lease('compute'), [index]);
    expect(numbers()).toEqual([7]);
    tellOf(lease('compute', { number: 8 }), [index]);
    expect(numbers()).toEqual([8]);
    expect(index.size).toBe(1);
    index.remove('state-team-a-compute');
    expect(numbers()).toEqual([]);
    expect(index.size).toBe(0);
  });
});
