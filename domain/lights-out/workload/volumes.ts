/** StatefulSets whose volumes are deleted with the pods that they are scaled down by: they stay up unless somebody says otherwise. */
import { replicasAt } from '../schedule/level.ts';
import { DELETES_VOLUMES } from '../schedule/names.ts';
import type { Desired } from './desired.ts';
import { isScaledDown, originalReplicas, savedStateOf } from './saved-state.ts';
import type { Workload } from './workload.ts';

/** Whether a night at this level would delete volumes of it, and nobody has allowed that. */
export function wouldDeleteVolumes(workload: Workload, { level }: Pick<Desired, 'level'>): boolean {
  const { kind, replicas, annotations, deletesVolumes } = workload;
  if (deletesVolumes !== true || replicas === null || annotations[DELETES_VOLUMES]?.trim() === 'true') return false;
  const savedState = savedStateOf(workload);
  // What sleeps already has lost nothing by it: the claims of pods that are gone stay.
  return replicas > replicasAt(level, isScaledDown(savedState, kind) ? originalReplicas(savedState) : replicas);
}
