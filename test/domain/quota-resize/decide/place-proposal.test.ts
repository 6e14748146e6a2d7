import { describe, expect, it } from 'vitest';
import {
  placeBatchedQuota,
  placeProposal,
  withPlacedQuotas,
} from '../../../../domain/quota-resize/decide/place-proposal.ts';
import { FOUND_IN_GIT } from '../../../../domain/quota-resize/model/decision.ts';
import type { SourceObservation } from '../../../../domain/quota-resize/model/observation.ts';
import type { Proposal } from '../../../../domain/quota-resize/model/verdict.ts';
import { change, decision, NOW, observation, policy } from '../model/observations.ts';

type Found = Extract<SourceObservation, { kind: 'found' }>;

const placement = { candidate: { kind: 'search' }, tried: 0, values: {} } as unknown as Found['placement'];

function found(changed: Partial<Found> = {}): Found {
  return {
    kind: 'found',
    repository: 'acme/gitops',
    base: 'main',
    baseSha: 'b45e',
    path: 'team-a/quota.yaml',
    line: 7,
    paths: ['team-a/quota.yaml'],
    limits: { 'requests.cpu': '10' },
    how: 'by the path template',
    placement,
    ...changed,
  };
}

const proposal: Proposal = {
  changes: [change()],
  evidence: ['Deployment web misses 2 pods'],
  notes: [],
  unmetDemand: true,
  demandByMessage: false,
  approvalRequirement: null,
};
const objects = {
  quota: 'objects',
  quotaUid: 'u2',
  changes: [change({ resource: 'pods', from: '10', to: '12' })],
  approvalRequirement: null,
  candidates: [],
};
const decided = { id: '0a1b2c3d', at: NOW };

function decisionOf(
  seen: Parameters<typeof placeProposal>[0],
  asked: Proposal,
  source: Found,
): Exclude<ReturnType<typeof placeProposal>, { kind: 'unplaceable' }>['decision'] {
  const placed = placeProposal(seen, asked, source, decided);
  if (placed.kind === 'unplaceable') throw new Error(placed.message);
  return placed.decision;
}

describe('a proposal whose location in Git is known', () => {
  it('becomes a decision with the location, for the quota that was observed', () => {
    const placed = placeProposal(observation(), proposal, found(), decided);
    expect(placed).toEqual({
      kind: 'raise',
      decision: {
        id: '0a1b2c3d',
        quotaUid: observation().quota?.uid,
        decidedAt: NOW,
        changes: [change()],
        evidence: proposal.evidence,
        demandByMessage: false,
        approvalRequirement: null,
        source: { repository: 'acme/gitops', base: 'main', how: 'by the path template', placement },
        pullRequest: null,
        merge: null,
      },
    });
  });

  it('has its values in the unit of the manifest, and the approval that those need', () => {
    const strict = observation({ policy: policy({ approval: 'before-merge' }) });
    const inMillis = decisionOf(strict, proposal, found({ limits: { 'requests.cpu': '10000m' } }));
    expect(inMillis.changes).toEqual([change({ to: '12000m' })]);
    expect(inMillis.approvalRequirement?.reason).toBe('ApprovalRequired');
  });

  it('keeps what people are to be told, where there is something', () => {
    const batched = {
      ...proposal,
      notes: ['pods are raised only to 20.'],
      usageNotes: ['pods: 3 counted, status says 5.'],
    };
    expect(decisionOf(observation(), batched, found())).toMatchObject({
      notes: batched.notes,
      usageNotes: batched.usageNotes,
    });
  });

  it('is merged already where Git holds all of its values', () => {
    const limits = { 'requests.cpu': '12' };
    const placed = placeProposal(observation(), proposal, found({ limits }), decided);
    expect(placed.kind).toBe('alreadyInGit');
    expect(decisionOf(observation(), proposal, found({ limits })).merge).toEqual({
      sha: 'b45e',
      at: NOW,
      by: FOUND_IN_GIT,
      limits,
    });
  });

  it('is of whole numbers where only those can be written, with the approval that those need', () => {
    const asked = { ...proposal, changes: [change({ to: '11500m' })] };
    const source = found({ rounded: { 'requests.cpu': '12' } });
    expect(decisionOf(observation(), asked, source).changes).toEqual([change({ to: '12' })]);
    const strict = observation({ policy: policy({ 'max-step': '1.15' }) });
    expect(decisionOf(strict, asked, found({ limits: { 'requests.cpu': '10000m' } })).approvalRequirement).toBeNull();
    expect(decisionOf(strict, asked, source).approvalRequirement?.reason).toBe('MaxStepExceeded');
  });

  it('is none where the whole number is above the maximum', () => {
    const asked = { ...proposal, changes: [change({ to: '11500m' })] };
    const bounded = observation({ policy: policy({ 'cpu-max': '11800m' }) });
    const placed = placeProposal(bounded, asked, found({ rounded: { 'requests.cpu': '12' } }), decided);
    expect(placed).toMatchObject({
      kind: 'unplaceable',
      message: expect.stringContaining('12 is above its maximum of 11.8 CPU'),
    });
    const batchedQuota = { ...objects, changes: asked.changes };
    const other = { ...found({ rounded: { 'requests.cpu': '12' } }), paths: ['team-a/objects.yaml'] };
    expect(placeBatchedQuota({ batchedQuota, proposal, policy: bounded.policy }, other, found())).toBeNull();
  });
});

describe('another quota of the namespace', () => {
  const inGit = found({ limits: { pods: '10' }, paths: ['team-a/objects.yaml'] });

  it('is placed where it is in the same branch', () => {
    expect(placeBatchedQuota({ batchedQuota: objects, proposal, policy: policy() }, inGit, found())).toEqual({
      ...objects,
      placement,
    });
  });

  it.each<[string, SourceObservation]>([
    ['it is in another repository', { ...inGit, repository: 'acme/other' }],
    ['it is in another branch', { ...inGit, base: 'release' }],
    ['Git holds its values already', { ...inGit, limits: { pods: '12' } }],
    ['it cannot be placed', { kind: 'blocked', reason: 'FileNotFound', message: 'no file' }],
  ])('has an episode of its own where %s', (_, source) => {
    expect(placeBatchedQuota({ batchedQuota: objects, proposal, policy: policy() }, source, found())).toBeNull();
  });

  it('is evaluated by its own policy, and what needs an approval makes the whole decision need it', () => {
    const strict = policy({ approval: 'before-merge' });
    const placed = placeBatchedQuota({ batchedQuota: objects, proposal, policy: strict }, inGit, found());
    if (placed === null) throw new Error('it is placed');
    const together = withPlacedQuotas(decision(), [placed], policy());
    expect(together.batchedQuotas).toEqual([placed]);
    expect(together.approvalRequirement?.message).toMatch(/^quota objects: /);
    expect(withPlacedQuotas(decision(), [], policy())).toEqual(decision());
  });
});
