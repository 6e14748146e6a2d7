import type { Suite } from '../adapter.ts';
import { quantityKinds } from './quantity.ts';

/** The cases of what all controllers share. */
export const kernelSuites: readonly Suite[] = [{ files: ['quantity'], kinds: quantityKinds }];
