/**
 * Workloads whose number is that of the custom resource that owns them: it is set there, through its scale subresource, and the
 * operator gives it to the workload. Such a workload is evaluated by its owner's number, and by who changed that.
 */
import { ORIGINAL_REPLICAS, SCALED_OWNER } from '../schedule/names.ts';
import { hasReplicas } from './kinds.ts';
import { isScaledDown, savedStateOf } from './saved-state.ts';
import { ownerDiffersSentence, ownerLagsSentence, ownerSharedSentence } from './sentences.ts';
import type { ScaledOwner, Workload } from './workload.ts';

/** Which object a mark is about: `widgets.example.com/web@7`, with its generation right before it was put to sleep. */
export interface OwnerMark {
  /** The name of its CustomResourceDefinition. */
  readonly definition: string;
  readonly name: string;
  readonly generation: number;
}

const FORM = /^(?<definition>[a-z0-9.-]+)\/(?<name>[a-z0-9.-]+)(?:@(?<generation>\d{1,15}))?$/;

/** Null for a text that is no such mark. */
export function readOwnerMark(text: string | undefined): OwnerMark | null {
  const { definition, name, generation } = FORM.exec(text ?? '')?.groups ?? {};
  if (definition === undefined || name === undefined || generation === undefined) return null;
  return { definition, name, generation: Number(generation) };
}

/** The same, of a mark or of an item of a plan, which has no generation. */
export function readOwnerName(text: string | undefined): Pick<OwnerMark, 'definition' | 'name'> | null {
  const { definition, name } = FORM.exec(text ?? '')?.groups ?? {};
  return definition === undefined || name === undefined ? null : { definition, name };
}

export function ownerMarkText({ definition, name, generation }: OwnerMark): string {
  return `${definition}/${name}@${generation}`;
}

/**
 * The object that a schedule set in place of the workload; null where it set the workload itself. A mark that names another object
 * than the one that owns the workload is not Headroom's.
 */
export function markedOwner({
  annotations,
  controller,
}: Pick<Workload, 'annotations' | 'controller'>): OwnerMark | null {
  const mark = readOwnerMark(annotations[SCALED_OWNER]);
  return mark?.name === controller?.name ? mark : null;
}

/**
 * The workload by the number of its owner. One that was put to sleep itself goes on so until it is woken, also where the kind of its
 * owner is followed by now.
 *
 * @param owner null: it has none whose number is set, or that is gone.
 * @param isShared whether another workload of the same owner has that number as well.
 */
export function byOwner(workload: Workload, owner: ScaledOwner | null, isShared: boolean): Workload {
  if (owner === null || workload.replicas === null || !isSetAtOwner(workload)) return workload;
  const { isUnwritten: _, ...rest } = workload;
  return {
    ...rest,
    replicas: owner.replicas ?? workload.replicas,
    changed: owner.changed,
    // Whoever made the owner made the workload.
    createdAt: owner.createdAt,
    createdBy: owner.createdBy,
    owner: { ...owner, workloadReplicas: workload.replicas, ...(isShared ? { isShared } : {}) },
  };
}

/** `kubectl rollout undo` takes the annotations of the mark away and leaves the label: then it is by its owner as well. */
function isSetAtOwner(workload: Workload): boolean {
  const { kind, annotations } = workload;
  if (!hasReplicas(kind)) return false;
  const isOwnMark = annotations[ORIGINAL_REPLICAS] !== undefined && markedOwner(workload) === null;
  return !isOwnMark || !isScaledDown(savedStateOf(workload), kind);
}

/** Why nobody can know that the owner's number is that of this workload, in a sentence; null where it surely is. */
export function unclearOwner(workload: Workload): string | null {
  const { owner } = workload;
  if (owner === undefined || isScaledDown(savedStateOf(workload), workload.kind)) return null;
  if (owner.replicas === null || owner.replicas !== owner.workloadReplicas)
    return ownerDiffersSentence(owner, owner.replicas, owner.workloadReplicas);
  return owner.isShared === true && owner.replicas > 0 ? ownerSharedSentence(owner) : null;
}

/** Whether the owner's number is that of this workload, as far as is known: it sleeps by it, or it alone has it. */
export function isByOwner(workload: Workload): boolean {
  const { owner, kind } = workload;
  if (owner === undefined) return false;
  if (isScaledDown(savedStateOf(workload), kind)) return true;
  return owner.replicas !== null && owner.replicas === owner.workloadReplicas && owner.isShared !== true;
}

/** What the operator has not done yet of a workload that is at its level by its owner, in a sentence; null where it has. */
export function laggingOwner({ owner, replicas }: Workload): string | null {
  if (owner === undefined || replicas === null || owner.workloadReplicas === replicas) return null;
  return ownerLagsSentence(owner, replicas, owner.workloadReplicas);
}

/**
 * Whether nobody but a schedule has set the owner's number since the marks were written. The API server does not always record who wrote
 * through a scale subresource, and no time. By the generation it is known: it is as before the marks where whoever wrote them
 * died before the number, and one more after that.
 */
export function isOursSinceMark(workload: Workload): boolean {
  const { owner, changed } = workload;
  const mark = markedOwner(workload);
  if (owner === undefined || mark === null) return false;
  const changes = owner.generation - mark.generation;
  return changes === 0 || (changes === 1 && changed === null);
}

/** The object whose number is set: its UID is the key of the memory. The owner may outlive its workloads. */
export function scaledUid({ owner, uid }: Pick<Workload, 'owner' | 'uid'>): string {
  return owner?.uid ?? uid;
}
