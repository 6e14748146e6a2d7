/** The schema of Kubernetes' label selectors. */
import { z } from 'zod';

const selectorRequirement = z.object({
  key: z.string().min(1).describe('The label key.'),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the label is compared with the values.'),
  values: z.array(z.string()).optional().describe('For In and NotIn at least one, for the others none.'),
});

/** Kubernetes' LabelSelector: every part must match; an empty one matches everything. */
export const labelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional().describe('Labels with exactly these values.'),
  matchExpressions: z.array(selectorRequirement).optional().describe('Further requirements, all of which must hold.'),
});
