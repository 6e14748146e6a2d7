import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import type { ControllerName } from '../../domain/kernel/controllers.ts';

/** The search attributes with which a workflow is started, so that the run need not write them: that saves a billed action. */
export function firstAttributes({
  controller,
  target,
  phase,
  cluster,
}: {
  readonly controller: ControllerName;
  readonly target: string;
  readonly phase: string;
  readonly cluster: string;
}): TypedSearchAttributes {
  const values = {
    HeadroomController: controller,
    HeadroomTarget: target,
    HeadroomPhase: phase,
    HeadroomCluster: cluster,
  };
  return new TypedSearchAttributes(
    Object.entries(values).map(([name, value]) => ({ key: defineSearchAttributeKey(name, 'KEYWORD'), value })),
  );
}
