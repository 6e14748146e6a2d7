/** An entry of `status.loweredFor`; `rules/lowered-for.ts` says what it is for. */
import { z } from 'zod';

export const keptLowered = z.object({
  machine: z.string().describe('The name of the VPSieNode.'),
  uid: z.string().describe('Its UID.'),
});
