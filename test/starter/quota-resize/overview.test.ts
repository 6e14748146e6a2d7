import { describe, expect, it } from 'vitest';
import type { OverviewPart } from '../../../starter/overview/part.ts';
import type { Overview } from '../../../starter/overview/part.ts';
import { approvalRequired, decisionFor, leaseOf, NOW, overviewOf, quotaWith } from '../overview/quotas.ts';

function ask(overview: Overview, namespace: string | null = null): OverviewPart {
  return overview({ namespace, now: NOW });
}

function rowsOf({ tables }: OverviewPart) {
  const [table] = tables;
  return table?.rows(0, table.total) ?? [];
}

const half = quotaWith('team-b', 'compute', { pods: '5', secrets: '1' }, { pods: '10', secrets: '10' });
const full = quotaWith('team-a', 'compute', { 'requests.cpu': '4' }, { 'requests.cpu': '4' });
const over = quotaWith('team-c', 'objects', { services: '2' }, { services: '0' });
const bare = quotaWith('team-d', 'nothing', {}, {});

describe('the quotas of the overview', () => {
  it('are the fullest first, each with its fullest limit', () => {
    const part = ask(overviewOf([bare, half, full, over], []));
    expect(rowsOf(part).map(({ cells }) => cells.slice(0, 3).map(({ text }) => text))).toEqual([
      ['team-c/objects', 'services 2', ''],
      ['team-a/compute', 'requests.cpu 100 %', ''],
      ['team-b/compute', 'pods 50 %', 'secrets 10 %'],
      ['team-d/nothing', 'without any limit', ''],
    ]);
    expect(part.tables[0]?.summary).toBe('The fullest first; 2 of 4 at 80 % or more.');
    expect(rowsOf(part)[1]).toMatchObject({ command: 'kubectl headroom explain quota-resize team-a/compute' });
    expect(rowsOf(part)[2]).toMatchObject({ command: null, links: [], workflow: null });
  });

  it('are those of one namespace where one is chosen, and so is what waits', () => {
    const leases = [leaseOf('team-a', 'compute', decisionFor(1)), leaseOf('team-b', 'compute', decisionFor(2))];
    const part = ask(overviewOf([half, full], leases), 'team-b');
    expect(rowsOf(part).map(({ cells }) => cells[0]?.text)).toEqual(['team-b/compute']);
    expect(part.waiting.map(({ what }) => what)).toEqual(['quota team-b/compute']);
    expect(ask(overviewOf([half], []), 'team-x').tables[0]).toMatchObject({
      total: 0,
      empty: 'There is no ResourceQuota in team-x.',
    });
  });

  it('have their decision with its pull request and its workflow', () => {
    const [row] = rowsOf(ask(overviewOf([full], [leaseOf('team-a', 'compute', decisionFor(7))])));
    expect(row?.cells[3]).toEqual({ text: 'requests.cpu 4 → 10', detail: 'decided 3 h ago' });
    expect(row).toMatchObject({
      links: [{ text: 'Pull request #7', url: 'https://github.example.com/acme/gitops/pull/7' }],
      workflow: 'quota-resize/c1/team-a/compute',
    });
  });

  it('say of one without a decision whether there could be one', () => {
    const optedOut = quotaWith('team-e', 'compute', {}, {}, { 'resizer.io/enabled': 'false' });
    const proposing = quotaWith('team-f', 'compute', {}, {}, { 'resizer.io/mode': 'propose' });
    expect(rowsOf(ask(overviewOf([bare, optedOut, proposing], []))).map(({ cells }) => cells[3]?.text)).toEqual([
      'none: observed only',
      'none: opted out',
      'none',
    ]);
  });
});

describe('a decision that waits', () => {
  const waitingOf = (decision: Parameters<typeof leaseOf>[2], autoMerge: boolean) =>
    ask(overviewOf([full], [leaseOf('team-a', 'compute', decision)], autoMerge)).waiting[0];

  it('for an approval is a thing for people, with the command that gives it', () => {
    expect(waitingOf(decisionFor(7, { approvalRequirement: approvalRequired }), true)).toMatchObject({
      whom: 'a person',
      isForPeople: true,
      why: 'An approval of requests.cpu 4 → 10: requests.cpu from 4 to 10 is more than twice the limit',
      command: 'kubectl headroom approve team-a/compute --head ffffffffffff --reason WHY',
    });
    // It may have grown before somebody presses enter: only what the page shows is approved.
    const before = decisionFor(7, { approvalRequirement: approvalRequired, pullRequest: null });
    expect(waitingOf(before, true)?.command).toBe('kubectl headroom approve team-a/compute --reason WHY');
  });

  it('for its merge waits for GitHub where Headroom merges, and else for a person', () => {
    expect(waitingOf(decisionFor(7), true)).toMatchObject({ whom: 'GitHub', isForPeople: false });
    expect(waitingOf(decisionFor(7), false)).toMatchObject({ whom: 'a person', isForPeople: true });
  });
});
