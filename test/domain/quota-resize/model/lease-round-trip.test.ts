/** Whatever a Lease is given to remember, it gives back: also what is optional, and whatever is added later. */
import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constantFrom,
  dictionary,
  integer,
  nat,
  option,
  property,
  record,
  string,
  stringMatching,
} from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { configuredCandidates } from '../../../../domain/quota-resize/git/locate/candidate/configured-candidates.ts';
import { isLedBy } from '../../../../domain/quota-resize/git/locate/location/placement.ts';
import type { PullRequestId, RecordedRaise } from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type {
  Approval,
  ApprovalRequirement,
  BatchedQuota,
  Decision,
  DecisionFacts,
  DecisionRef,
  JoinedDecision,
  LimitChange,
  Merge,
  PullRequestRef,
  Rejection,
  Verifier,
} from '../../../../domain/quota-resize/model/decision.ts';
import { type LeaseMemory, readLeaseMemory, withMemory } from '../../../../domain/quota-resize/model/lease.ts';
import type { Placement, ValuePlacement } from '../../../../domain/quota-resize/model/placement.ts';

const target = { cluster: 'c1', namespace: 'team-a', quota: 'compute' };

/** Every field of a type, also those that it may lack: one that is added to the type does not compile until it is here. */
type Fields<T> = { readonly [K in keyof Required<T>]: Arbitrary<Exclude<T[K], undefined>> };

/** Values of a type; of the fields that are named here any may be absent. */
function valuesOf<T>(fields: Fields<T>, optional: readonly (keyof T)[] = []): Arbitrary<T> {
  const requiredKeys = (Object.keys(fields) as (keyof T)[]).filter((key) => !optional.includes(key));
  return record(fields, { requiredKeys });
}

const text = string();
const texts = array(text, { maxLength: 3 });
const at = integer({ min: Date.UTC(2020), max: Date.UTC(2100) });
const limits = dictionary(stringMatching(/^[a-z][a-z.]{0,9}$/), text, { maxKeys: 3 });

const candidates = valuesOf<SourceCandidate>(
  {
    from: constantFrom('annotation', 'argocd', 'flux', 'template', 'scan'),
    repository: text,
    ref: text,
    refBy: constantFrom('annotation'),
    path: text,
    field: text,
    valueFiles: texts,
    namespace: text,
    release: valuesOf<NonNullable<SourceCandidate['release']>>({ name: text, namespace: text, path: text }),
    template: text,
    learntFrom: text,
    problem: text,
  },
  ['repository', 'ref', 'refBy', 'path', 'field', 'valueFiles', 'namespace', 'release', 'template', 'problem'],
);

const placements = valuesOf<Placement>(
  {
    candidate: candidates,
    tried: nat(20),
    values: dictionary(stringMatching(/^[a-z]{1,9}$/), valuesOf<ValuePlacement>({ path: text, field: text, text }), {
      maxKeys: 2,
    }),
    notProved: text,
    branchBy: constantFrom('annotation'),
  },
  ['notProved', 'branchBy'],
);

const changes = array(
  valuesOf<LimitChange>({ resource: text, from: text, to: text, used: text, demand: text, reason: text }),
  { maxLength: 2 },
);

const approvalRequirements = option(
  valuesOf<ApprovalRequirement>(
    {
      reason: constantFrom('MaxStepExceeded', 'RaiseFromZero', 'ApprovalRequired'),
      message: text,
      before: constantFrom('pull-request'),
    },
    ['before'],
  ),
);

const batchedQuotas = valuesOf<BatchedQuota>(
  {
    quota: text,
    quotaUid: text,
    changes,
    usageNotes: texts,
    demandByMessage: boolean(),
    approvalRequirement: approvalRequirements,
    candidates: array(candidates, { maxLength: 2 }),
    placement: placements,
  },
  ['usageNotes', 'demandByMessage', 'placement'],
);

const sources = valuesOf<NonNullable<DecisionFacts['source']>>(
  { repository: text, base: text, how: text, placement: placements },
  ['placement'],
);

const verifiers = constantFrom<Verifier>('kubernetes', 'forge');

const decisionRef = { namespace: text, quota: text, decision: text };

const facts: Fields<DecisionFacts> = {
  id: stringMatching(/^[0-9a-f]{8}$/),
  quotaUid: text,
  decidedAt: at,
  grownAt: at,
  changes,
  evidence: texts,
  demandByMessage: boolean(),
  cooldownSkippedAt: at,
  notes: texts,
  usageNotes: texts,
  approvalRequirement: approvalRequirements,
  source: option(sources),
  batchedQuotas: array(batchedQuotas, { maxLength: 2 }),
  approvedBy: text,
  approvalVerifiedBy: verifiers,
  approval: valuesOf<Approval>(
    {
      by: text,
      at,
      reason: text,
      limits,
      headSha: text,
      places: dictionary(text, text, { maxKeys: 2 }),
      verified: verifiers,
    },
    ['places', 'verified'],
  ),
  joined: array(valuesOf<JoinedDecision>({ ...decisionRef, limits, leftOut: boolean() }, ['leftOut']), {
    maxLength: 2,
  }),
  readyAt: text,
  isApart: boolean(),
};

const pullRequests = valuesOf<PullRequestRef>(
  {
    number: nat(),
    url: text,
    repository: text,
    branch: text,
    base: text,
    path: text,
    headSha: text,
    openedAt: at,
    pushedAt: at,
    joinedTo: valuesOf<DecisionRef>(decisionRef),
  },
  ['joinedTo'],
);

const merges = valuesOf<Merge>({ sha: text, at, by: text, isOwn: boolean(), limits }, ['isOwn']);

const decisions = valuesOf<Decision>(
  { ...facts, pullRequest: option(pullRequests), merge: option(merges) } as Fields<Decision>,
  [
    'grownAt',
    'notes',
    'usageNotes',
    'source',
    'batchedQuotas',
    'approvedBy',
    'approvalVerifiedBy',
    'approval',
    'joined',
    'readyAt',
    'isApart',
  ],
);

const rejections = valuesOf<Rejection>({ limits, at, by: text, reason: text, verified: constantFrom('forge') }, [
  'verified',
]);

const memories = valuesOf<Omit<LeaseMemory, 'unread'>>(
  {
    lastModified: option(at),
    lastWithdrawal: at,
    lastRecommendation: option(valuesOf<NonNullable<LeaseMemory['lastRecommendation']>>({ limits, at })),
    rejections: array(rejections, { maxLength: 3 }).map((all) => all.toSorted((a, b) => a.at - b.at)),
    raises: array(
      valuesOf<RecordedRaise>(
        {
          decision: text,
          at,
          from: limits,
          to: limits,
          pullRequest: valuesOf<PullRequestId>({ repository: text, number: nat() }),
          isPending: boolean(),
          isApproved: boolean(),
        },
        ['pullRequest', 'isPending', 'isApproved'],
      ),
      { maxLength: 3 },
    ),
    decision: option(decisions),
    needed: dictionary(text, limits, { maxKeys: 2 }),
  },
  ['lastWithdrawal', 'needed'],
).map(({ needed, ...memory }) =>
  // What is needed is that of the decision.
  needed === undefined || memory.decision === null ? memory : { ...memory, needed },
);

describe('the memory of a Lease', () => {
  it('is read as it was written, whatever it is', () => {
    assert(
      property(memories, (memory) => {
        const annotations = withMemory({}, target, memory);
        expect(readLeaseMemory({ metadata: { annotations } })).toEqual({ memory, problems: [] });
      }),
    );
  });

  it.each([
    ['the path template', 0],
    ['a search', 1],
  ])('has a location in Git that is still known by what led to it: %s', (_, tried) => {
    assert(
      property(
        constantFrom({}, { repository: 'acme/gitops' }, { field: 'limits', ref: 'main' }),
        texts,
        (narrowed, notes) => {
          const configured = configuredCandidates('clusters/{{ .Cluster }}/{{ .Namespace }}', target, narrowed, notes);
          const candidate = configured[tried];
          if (candidate === undefined) throw new Error(`there are only ${configured.length} candidates`);
          expect(isLedBy(readBack({ candidate, tried, values: {} }), configured)).toBe(true);
          expect(
            isLedBy(readBack({ candidate: { ...candidate, learntFrom: '' }, tried, values: {} }), configured),
          ).toBe(false);
        },
      ),
    );
  });
});

/** A placement as it is in the decision of a Lease that was written and read. */
function readBack(placement: Placement): Placement {
  const decision: Decision = {
    id: '0a1b2c3d',
    quotaUid: 'u-1',
    decidedAt: 0,
    changes: [],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    source: { repository: 'acme/gitops', base: 'main', how: '', placement },
    pullRequest: null,
    merge: null,
  };
  const memory = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision };
  const annotations = withMemory({}, target, memory);
  const read = readLeaseMemory({ metadata: { annotations } }).memory.decision?.source?.placement;
  if (read === undefined) throw new Error('the Lease has lost the place');
  return read;
}
