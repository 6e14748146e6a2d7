import { nothingToWatch, type StarterController } from '../controller.ts';

export const nodeGroupController: StarterController = nothingToWatch;
