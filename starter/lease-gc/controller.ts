import { nothingToWatch, type StarterController } from '../controller.ts';

/** A Schedule of Temporal starts its workflow. */
export const leaseGcController: StarterController = nothingToWatch;
