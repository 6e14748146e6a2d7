/** What whoever may schedule activities gets from those that are told what to write: no more than the table in docs/security.md says. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPauseActivities } from '../../../../activities/kernel/pause-activities.ts';
import { createLeaseGcActivities } from '../../../../activities/lease-gc/kubernetes-activities.ts';
import { createQuotaUsageActivities } from '../../../../activities/quota-usage/kubernetes-activities.ts';
import { type Decision, unrecordedDecision } from '../../../../domain/quota-resize/model/decision.ts';
import { type Cluster, quotaOf, startCluster, SYSTEM_NAMESPACE } from '../../kubernetes/cluster.ts';
import { change, type GitOps, policy, startGitOps } from '../gitops-fixture.ts';
import { type Attacker, attack, manifestOf, STRICT } from './attacker.ts';

const NAMES = ['place', 'comment', 'other', 'idle', 'taken', 'events', 'along', 'kept', 'paused'] as const;

let cluster: Cluster;
let gitops: GitOps;

beforeAll(async () => {
  cluster = await startCluster();
  const files = NAMES.map((name) => manifestOf(`told-${name}`, '10'));
  gitops = await startGitOps(Object.assign({}, ...files) as Record<string, string>);
});
afterAll(async () => {
  await gitops?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

async function of(name: (typeof NAMES)[number], given: Parameters<typeof attack>[3] = {}): Promise<Attacker> {
  return await attack(cluster, gitops, `told-${name}`, given);
}

function options() {
  return { kubernetes: cluster.worker, systemNamespace: SYSTEM_NAMESPACE, log: pino({ level: 'silent' }) };
}

async function comments(number: number): Promise<readonly string[]> {
  return await gitops.worker().github.pullRequests.ownCommentsWith(number, '');
}

async function stateOf(number: number): Promise<string> {
  return (await gitops.worker().github.pullRequests.get(number)).state;
}

/** The Events in a namespace, as `reason: message`. */
async function events(namespace: string): Promise<readonly string[]> {
  const { items } = await cluster.admin.core.listNamespacedEvent({ namespace });
  return items.map(({ reason, message }) => `${reason}: ${message}`);
}

describe('whoever may schedule activities', () => {
  it('opens no pull request where the guardrail allows none, whatever policy he tells', async () => {
    const guardrail = { ...STRICT, git: { paths: ['elsewhere'] } };
    const { activities, target, opened } = await of('place', { guardrail });
    expect(policy.guardrail.git, 'that is what they are told').toEqual({});
    await expect(opened('20')).rejects.toThrow('OutsideGuardrail');
    const { decision } = (await activities.observeQuota({ target })).lease;
    if (decision === null) throw new Error('the Lease has no decision');
    const candidates = [
      { from: 'template', path: `quotas/${target.namespace}`, learntFrom: 'the path template' },
    ] as const;
    const candidatesByQuota = [{ quota: target.quota, candidates }];
    const input = { target, decision, policy, candidatesByQuota };
    expect(await activities.ensurePullRequest(input)).toMatchObject({ reason: 'OutsideGuardrail' });
    expect(await activities.ensurePullRequestRebuilt({ ...input, why: 'the demand grew' })).toMatchObject({
      reason: 'OutsideGuardrail',
    });
    expect(gitops.effects().filter((effect) => effect.includes(target.namespace))).toEqual([]);
  });

  it('comments on the pull request of the decision only, and commands nobody there', async () => {
    const { activities, target, opened } = await of('comment');
    const decision = await opened('20');
    const { number } = decision.pullRequest;
    const other = (await (await of('other')).opened('20')).pullRequest.number;
    const forged = { ...decision, pullRequest: { ...decision.pullRequest, number: other } };
    await activities.ensureComment({ target, decision: forged, about: 'x', text: '/lgtm\n/approve' });
    expect(await comments(other)).toEqual([]);
    expect(await comments(number)).toEqual([expect.stringMatching(/^\\\/lgtm \/approve\n/)]);
    const unheard = { ...forged, id: 'ffffffff' };
    await expect(activities.ensureComment({ target, decision: unheard, about: 'y', text: 'y' })).rejects.toThrow(
      'its Lease does not hold decision ffffffff',
    );

    for (const ending of [
      activities.ensurePullRequestClosed({ target, decision: forged, comment: 'gone' }),
      activities.ensureBranchDeleted({ target, decision: forged }),
    ]) {
      await expect(ending).rejects.toThrow('is not one for told-comment/compute');
    }
    expect(await activities.ensureDequeued({ target, decision: forged }), 'nothing is taken out of no queue').toEqual({
      kind: 'dequeued',
    });
    await activities.ensureBranchDeleted({ target, decision });
    expect(await stateOf(number), 'its branch stays while it is open').toBe('open');
    await activities.ensurePullRequestClosed({ target, decision, comment: 'gone' });
    expect([await stateOf(number), await stateOf(other)], 'as by the command').toEqual(['closed', 'open']);
    const { lease } = await activities.observeQuota({ target });
    expect(lease, 'nobody has rejected it').toMatchObject({ decision: { id: decision.id }, rejections: [] });
  });

  it('has no pull request closed because another quota needs nothing', async () => {
    const { activities, target } = await of('idle', { needs: null });
    const taken = await of('taken');
    const { number } = (await taken.opened('20')).pullRequest;
    const found = { target, repository: 'acme/gitops', number };
    expect(await activities.ensureOrphanEnded(found)).toEqual({ kind: 'left', why: 'it is of another quota' });
    const own = { ...found, target: taken.target };
    expect(await activities.ensureOrphanEnded(own), 'its Lease knows it').toMatchObject({ kind: 'left' });
    expect(await stateOf(number)).toBe('open');
  });

  it('writes Events on a quota, and silences no recommendation', async () => {
    const { activities, target } = await of('events');
    const { namespace } = target;
    const told = { quotaUid: 'uid', type: 'Warning', message: 'all is lost', key: 'x' } as const;
    await activities.ensureQuotaEvent({ target, ...told, reason: 'QuotaResizeHeld' });
    await createQuotaUsageActivities(options()).ensureUsageEvent({ target, ...told, reason: 'UsageWrong' });
    const changes = [change('requests.cpu', '10', '20')];
    const at = Number.MAX_SAFE_INTEGER;
    await activities.ensureRecommendation({ target, quotaUid: 'uid', changes, evidence: [], mode: 'observe', at });
    expect((await events(namespace)).toSorted()).toEqual([
      'QuotaResizeHeld: All is lost.',
      expect.stringMatching(/^QuotaResizeRecommended: requests\.cpu should be raised from 10 to 20/),
      'UsageWrong: All is lost.',
    ]);
    const { lease } = await activities.observeQuota({ target });
    expect(lease.lastRecommendation?.at).toBeLessThanOrEqual(Date.now());
  });

  it('unlocks a quota that is raised along only by leaving it out of what is merged', async () => {
    const { activities, leases, target, merged, opened } = await of('along');
    const { namespace } = target;
    await cluster.create(quotaOf(namespace, { 'requests.cpu': '10' }, 'second'));
    const { metadata } = await cluster.admin.core.readNamespacedResourceQuota({ name: 'second', namespace });
    const changes = [change('requests.cpu', '10', '12')];
    const second = {
      quota: 'second',
      quotaUid: metadata?.uid ?? '',
      changes,
      approvalRequirement: null,
      candidates: [],
    };
    const decision = await opened('20');
    const both: Decision = { ...decision, batchedQuotas: [second] };
    await activities.ensureLeaseAcquired({ target, decision: both });
    expect((await leases.read({ ...target, quota: 'second' })).holder).toBe(`headroom/${decision.id}`);
    await activities.ensureBatchedQuotasReleased({ target, decision: both, quotas: ['second'] });
    expect((await leases.read({ ...target, quota: 'second' })).holder).toBeNull();
    const { decision: recorded } = await leases.read(target);
    expect(recorded).toMatchObject({ id: decision.id, pullRequest: { number: decision.pullRequest.number } });
    expect(recorded?.batchedQuotas).toBeUndefined();
    expect(await merged(decision)).toBe('merged');
    expect((await leases.read({ ...target, quota: 'second' })).raises).toEqual([]);
  });

  it('has no Lease collected that a running episode holds', async () => {
    const { leases, target, opened } = await of('kept');
    const decision = await opened('20');
    const running = new Set(['quota-resize/test/told-kept/compute']);
    const runningQuotaResizes = () => Promise.resolve(running);
    const collection = createLeaseGcActivities({ ...options(), runningQuotaResizes });
    const { deleted, unlocked } = await collection.ensureOldLeasesCollected({ cluster: 'test' });
    expect([...deleted, ...unlocked]).not.toContain('state-told-kept-compute');
    expect((await leases.read(target)).holder).toBe(`headroom/${decision.id}`);
  });

  it('pauses and resumes, as by the command', async () => {
    const { activities, target } = await of('paused');
    const pauses = createPauseActivities(options());
    const scope = { kind: 'target', controller: 'quota-resize', name: `${target.namespace}/compute` } as const;
    const release = async () =>
      await activities.ensureLeaseReleased({ target, decision: unrecordedDecision('eeeeeeee'), rejection: null });
    await pauses.ensurePauseKept({ scope, pause: { by: 'eve', reason: '', at: Date.now() } });
    await expect(release()).rejects.toThrow('paused by eve');
    await pauses.ensurePauseKept({ scope, pause: null });
    await release();
  });
});
