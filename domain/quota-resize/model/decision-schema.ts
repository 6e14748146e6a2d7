/** The decision in a Lease's annotation, as this release writes it and as earlier ones wrote it. */
import { z } from 'zod';
import type { SourceCandidate } from '../git/locate/source-candidate.ts';
import type { Decision } from './decision.ts';
import type { Placement } from './placement.ts';
import { type DecisionV1, upgradeDecision } from './upgrade-decision.ts';

export const resourceList = z.record(z.string(), z.string());

const changes = z.array(
  z.object({
    resource: z.string(),
    from: z.string(),
    to: z.string(),
    used: z.string(),
    demand: z.string(),
    reason: z.string(),
  }),
);

const candidate = z.object({
  from: z.enum(['annotation', 'argocd', 'flux', 'template', 'scan']),
  repository: z.string().exactOptional(),
  ref: z.string().exactOptional(),
  path: z.string().exactOptional(),
  field: z.string().exactOptional(),
  valueFiles: z.array(z.string()).exactOptional(),
  namespace: z.string().exactOptional(),
  learntFrom: z.string(),
  problem: z.string().exactOptional(),
}) satisfies z.ZodType<SourceCandidate>;

const found = {
  tried: z.int(),
  values: z.record(z.string(), z.object({ path: z.string(), field: z.string(), text: z.string() })),
};

const placement = z.object({ candidate, ...found }) satisfies z.ZodType<Placement>;

const approvalRequirement = z.object({
  reason: z.enum(['MaxStepExceeded', 'RaiseFromZero', 'ApprovalRequired']),
  message: z.string(),
  before: z.enum(['pull-request', 'merge']).exactOptional(),
});

const source = z.object({ repository: z.string(), base: z.string(), how: z.string() });

const otherQuota = z.object({
  quota: z.string(),
  quotaUid: z.string(),
  changes,
  usageNotes: z.array(z.string()).exactOptional(),
});

const batchedQuota = otherQuota.extend({
  approvalRequirement: approvalRequirement.nullable(),
  candidates: z.array(candidate),
  placement: placement.exactOptional(),
});

const decision = z.object({
  id: z.string().min(1),
  quotaUid: z.string(),
  decidedAt: z.number(),
  changes,
  evidence: z.array(z.string()),
  demandByMessage: z.boolean(),
  notes: z.array(z.string()).exactOptional(),
  usageNotes: z.array(z.string()).exactOptional(),
  approvalRequirement: approvalRequirement.nullable(),
  source: source.extend({ placement: placement.exactOptional() }).nullable().exactOptional(),
  batchedQuotas: z.array(batchedQuota).exactOptional(),
  approvedBy: z.string().exactOptional(),
  pullRequest: z
    .object({
      number: z.int(),
      url: z.string(),
      repository: z.string(),
      branch: z.string(),
      base: z.string(),
      path: z.string(),
      headSha: z.string(),
      openedAt: z.number(),
      pushedAt: z.number(),
    })
    .nullable(),
  merge: z.object({ sha: z.string(), at: z.number(), by: z.string(), limits: resourceList }).nullable(),
}) satisfies z.ZodType<Decision>;

const candidateV1 = candidate.omit({ learntFrom: true }).extend({ said: z.string() });

const placementV1 = z.object({ hint: candidateV1, ...found });

const decisionV1 = decision.omit({ approvalRequirement: true, source: true, batchedQuotas: true }).extend({
  gate: approvalRequirement.nullable(),
  source: source.extend({ placement: placementV1.exactOptional() }).nullable().exactOptional(),
  companions: z
    .array(
      otherQuota.extend({
        gate: approvalRequirement.nullable(),
        hints: z.array(candidateV1),
        placement: placementV1.exactOptional(),
      }),
    )
    .exactOptional(),
}) satisfies z.ZodType<DecisionV1>;

/** The annotation's value: the decision with the version that it was written in, read as the one of this release. */
export const writtenDecision = z.discriminatedUnion('v', [
  z.object({ v: z.literal(2), decision }),
  z.object({ v: z.literal(1), decision: decisionV1.transform(upgradeDecision) }),
]);
