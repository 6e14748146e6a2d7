/**
 * The approval in the annotations of a quota's Lease. The policy headroom-approvals lets nobody write one but
 * the user that it names, who needs the right to approve that quota. The name stands in an annotation of its own, because
 * the policy cannot read JSON.
 */
import * as z from 'zod';
import { oneLine } from '../../kernel/sentence.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { type Fields, resourceList } from './decision-schema.ts';
import { instant, rfc3339 } from './lease-instant.ts';

const APPROVED_BY = 'resizer.io/approved-by';
const APPROVAL = 'resizer.io/approval';

/** Longer than any real reason; it becomes part of a sentence. */
const MAX_REASON = 500;

/** An approval as it stands in a Lease: of exactly these values of this decision, at this head. */
export interface LeaseApproval {
  /** The user's name as the API server knows it. */
  readonly by: string;
  readonly at: EpochMs;
  readonly reason: string;
  /** The decision's id. */
  readonly decision: string;
  /** As `approvedValues` of the decision. */
  readonly limits: ResourceList;
  /** "" before there is a pull request. */
  readonly headSha: string;
  /** What is written where, as `approvedPlaces` of the decision. */
  readonly places: Readonly<Record<string, string>>;
}

/** The annotations of an approval. */
export function approvalAnnotations({ by, ...approval }: LeaseApproval): Readonly<Record<string, string>> {
  return { [APPROVED_BY]: by, [APPROVAL]: JSON.stringify({ ...approval, at: rfc3339(approval.at) }) };
}

/** What takes an approval out of annotations. */
export const approvalRemoval: Readonly<Record<string, null>> = { [APPROVED_BY]: null, [APPROVAL]: null };

/** The approval of a Lease; null where there is none, or none that can be read, of which `problem` says why. */
export function readLeaseApproval(annotations: Readonly<Record<string, string>> = {}): {
  readonly approval: LeaseApproval | null;
  readonly problem: string | null;
} {
  const { [APPROVED_BY]: by = '', [APPROVAL]: text = '' } = annotations;
  if (by === '' && text === '') return { approval: null, problem: null };
  const refused = (why: string) => ({
    approval: null,
    problem: `the annotations ${APPROVED_BY} and ${APPROVAL}: ${why}`,
  });
  if (by === '') return refused('nobody is named');
  const read = content.safeParse(parsed(text));
  if (!read.success) return refused(z.prettifyError(read.error));
  const { limits } = read.data;
  // JSON can write the same key with escapes, and then nobody was asked for the right to approve the other quotas.
  const isForOthers = Object.keys(limits).some((key) => key.startsWith(OTHER_QUOTA));
  if (isForOthers && !text.includes(`"${OTHER_QUOTA}`))
    return refused('the values of other quotas are hidden by escapes');
  return { approval: { by, ...read.data }, problem: null };
}

/** How `approvedValues` begins the keys of other quotas; the policy looks for it in the text. */
const OTHER_QUOTA = 'quota ';

const content = z.object({
  at: instant,
  reason: z.string().transform((text) => oneLine(text).slice(0, MAX_REASON)),
  decision: z.string().min(1),
  limits: resourceList,
  headSha: z.string(),
  places: resourceList,
} satisfies Fields<Omit<LeaseApproval, 'by'>>);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
