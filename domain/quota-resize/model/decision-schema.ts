/** The decision in a Lease's annotation. */
import { z } from 'zod';
import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';
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
} from './decision.ts';
import type { Placement, ValuePlacement } from './placement.ts';

export const resourceList = z.record(z.string(), z.string());

/** A schema that lacks a field of the type would lose the field when reading; with this type it does not compile. */
export type Fields<T> = { readonly [K in keyof Required<T>]: z.ZodType };

const changes = z.array(
  z.object({
    resource: z.string(),
    from: z.string(),
    to: z.string(),
    used: z.string(),
    demand: z.string(),
    reason: z.string(),
  } satisfies Fields<LimitChange>),
);

const candidate = z.object({
  from: z.enum(['annotation', 'argocd', 'flux', 'template', 'scan']),
  repository: z.string().exactOptional(),
  ref: z.string().exactOptional(),
  refBy: z.literal('annotation').exactOptional(),
  path: z.string().exactOptional(),
  field: z.string().exactOptional(),
  valueFiles: z.array(z.string()).exactOptional(),
  namespace: z.string().exactOptional(),
  release: z.object({ name: z.string(), namespace: z.string(), path: z.string() }).exactOptional(),
  template: z.string().exactOptional(),
  learntFrom: z.string(),
  problem: z.string().exactOptional(),
} satisfies Fields<SourceCandidate>) satisfies z.ZodType<SourceCandidate>;

const valuePlacement = z.object({
  path: z.string(),
  field: z.string(),
  text: z.string(),
} satisfies Fields<ValuePlacement>);

const placement = z.object({
  candidate,
  tried: z.int(),
  values: z.record(z.string(), valuePlacement),
  notProved: z.string().exactOptional(),
  branchBy: z.literal('annotation').exactOptional(),
} satisfies Fields<Placement>) satisfies z.ZodType<Placement>;

const approvalRequirement = z.object({
  reason: z.enum(['MaxStepExceeded', 'RaiseFromZero', 'GuardrailExceeded', 'ApprovalRequired', 'DemandByMessage']),
  message: z.string(),
  before: z.literal('pull-request').exactOptional(),
} satisfies Fields<ApprovalRequirement>);

const source = z.object({
  repository: z.string(),
  base: z.string(),
  how: z.string(),
  placement: placement.exactOptional(),
} satisfies Fields<NonNullable<DecisionFacts['source']>>);

const batchedQuota = z.object({
  quota: z.string(),
  quotaUid: z.string(),
  changes,
  usageNotes: z.array(z.string()).exactOptional(),
  demandByMessage: z.boolean().exactOptional(),
  approvalRequirement: approvalRequirement.nullable(),
  candidates: z.array(candidate),
  placement: placement.exactOptional(),
} satisfies Fields<BatchedQuota>);

const decisionRef = { namespace: z.string(), quota: z.string(), decision: z.string() };

const joinedDecision = z.object({
  ...decisionRef,
  limits: resourceList,
  leftOut: z.boolean().exactOptional(),
} satisfies Fields<JoinedDecision>);

const pullRequest = z.object({
  number: z.int(),
  url: z.string(),
  repository: z.string(),
  branch: z.string(),
  base: z.string(),
  path: z.string(),
  headSha: z.string(),
  openedAt: z.number(),
  pushedAt: z.number(),
  joinedTo: z.object(decisionRef satisfies Fields<DecisionRef>).exactOptional(),
} satisfies Fields<PullRequestRef>);

const merge = z.object({
  sha: z.string(),
  at: z.number(),
  by: z.string(),
  isOwn: z.boolean().exactOptional(),
  limits: resourceList,
} satisfies Fields<Merge>);

const verifier = z.enum(['kubernetes', 'forge']);

const approval = z.object({
  by: z.string(),
  at: z.number(),
  reason: z.string(),
  limits: resourceList,
  headSha: z.string(),
  places: z.record(z.string(), z.string()).exactOptional(),
  verified: verifier.exactOptional(),
} satisfies Fields<Approval>);

const decision = z.object({
  id: z.string().min(1),
  quotaUid: z.string(),
  decidedAt: z.number(),
  grownAt: z.number().exactOptional(),
  changes,
  evidence: z.array(z.string()),
  demandByMessage: z.boolean(),
  cooldownSkippedAt: z.number().exactOptional(),
  notes: z.array(z.string()).exactOptional(),
  usageNotes: z.array(z.string()).exactOptional(),
  approvalRequirement: approvalRequirement.nullable(),
  source: source.nullable().exactOptional(),
  batchedQuotas: z.array(batchedQuota).exactOptional(),
  approvedBy: z.string().exactOptional(),
  approvalVerifiedBy: verifier.exactOptional(),
  approval: approval.exactOptional(),
  joined: z.array(joinedDecision).exactOptional(),
  readyAt: z.string().exactOptional(),
  isApart: z.boolean().exactOptional(),
  pullRequest: pullRequest.nullable(),
  merge: merge.nullable(),
} satisfies Fields<Decision>) satisfies z.ZodType<Decision>;

/** The annotation's value: a decision with the version of its format. */
export const writtenDecision = z.object({ v: z.literal(2), decision });
