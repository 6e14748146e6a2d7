/** Data by which templates are tested when they are read. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { LimitChange } from '../model/decision.ts';
import { BUILT_IN_GUARDRAIL, inForce } from '../policy/guardrail.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { type BodyContext, bodyContext, type BodyFacts, type RaisedQuota } from './body.ts';

/** A change for testing templates. */
export const sampleChange: LimitChange = {
  resource: 'requests.cpu',
  from: '2',
  to: '3',
  used: '2',
  demand: '1',
  reason: 'Usage is 2 of 2 CPU.',
};

/** Contexts for testing templates: with every optional part, and without. */
export const bodySamples: readonly BodyContext[] = samples();

function samples(): readonly BodyContext[] {
  const quota: RaisedQuota = { quota: 'compute', changes: [sampleChange], how: 'in a file', inGit: {} };
  const policy: ResizePolicy = {
    enabled: true,
    mode: 'propose',
    threshold: '80',
    increment: '20',
    thresholds: {},
    increments: {},
    cooldown: 60 * MINUTE_MS,
    autoMerge: { allowed: true, reason: 'On' },
    maxStep: '2',
    burst: 'settle',
    minimums: {},
    maximums: {},
    steps: {},
    approval: 'none',
    approvalReminder: null,
    approvalTimeout: null,
    freezeUntil: null,
    mergeWindows: [],
    rejectionCooldown: 0,
    reviewers: null,
    git: {},
    guardrail: inForce(BUILT_IN_GUARDRAIL),
    sources: {},
  };
  const plain: BodyFacts = {
    target: { cluster: 'prod', namespace: 'team-a', quota: 'compute' },
    decision: { id: '0a1b2c3d', decidedAt: 0, evidence: [], approvalRequirement: null },
    policy,
    repository: 'acme/gitops',
    base: 'main',
    paths: ['quota.yaml'],
    quotas: [quota],
    leftOut: [],
    temporalUi: null,
  };
  const full: BodyFacts = {
    ...plain,
    decision: {
      ...plain.decision,
      evidence: ['why'],
      notes: ['capped'],
      usageNotes: ['the status says less'],
      approvalRequirement: { reason: 'ApprovalRequired', message: 'ask' },
    },
    quotas: [
      { ...quota, inGit: { pods: '10' } },
      { ...quota, quota: 'gpu', notProved: 'the value is computed' },
    ],
    leftOut: [{ quota: 'memory', why: 'gone' }],
    joined: [
      {
        target: { cluster: 'prod', namespace: 'team-b', quota: 'compute' },
        decision: { evidence: ['why'], approvalRequirement: { reason: 'ApprovalRequired', message: 'ask' } },
        quotas: [quota],
      },
    ],
    temporalUi: { url: 'https://temporal.example.com', namespace: 'default' },
  };
  return [bodyContext(plain), bodyContext(full)];
}
