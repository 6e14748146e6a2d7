import type { Suite } from '../adapter.ts';
import { quotaControllerKinds } from './controller.ts';
import { quotaEvaluatorKinds } from './evaluators.ts';
import { resourceListKinds } from './resource-lists.ts';

/** The cases of Kubernetes' quota library, its evaluators and its own controller. */
export const quotaUsageSuites: readonly Suite[] = [
  { files: ['quota'], kinds: { ...resourceListKinds, ...quotaEvaluatorKinds, ...quotaControllerKinds } },
];
