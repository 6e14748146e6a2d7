/** A condition in the status of a custom resource, in the form of Kubernetes' `metav1.Condition`. */
import { z } from 'zod';

export const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().optional(),
  lastTransitionTime: z.string(),
  reason: z.string(),
  message: z.string(),
});
export type Condition = z.infer<typeof condition>;
