/** What people read of a workload: why it is left alone, or is not as it was. One sentence or two, without the last full stop. */
import { truncate } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { DELETES_VOLUMES, EXCLUDE_UNTIL } from '../schedule/names.ts';
import { MOMENT_FORM } from './annotations.ts';

const NAME_LENGTH = 60;

export function replicasOf(count: number): string {
  return count === 1 ? '1 replica' : `${count} replicas`;
}

/** What a person did to it in the night. `replicas`: what it has now; null for a CronJob. */
export interface PersonsDeed {
  readonly who: string | null;
  readonly at: EpochMs | null;
  readonly isCreation: boolean;
  readonly replicas: number | null;
  /** An autoscaler changed it after the person had. */
  readonly isAnswered: boolean;
}

export function personsSentence({ who, at, isCreation, replicas, isAnswered }: PersonsDeed): string {
  const what = isCreation ? 'created it' : replicas === null ? 'resumed it' : `gave it ${replicasOf(replicas)}`;
  const before = isAnswered ? 'somebody scaled it up, then ' : '';
  const when = at === null ? '' : ` at ${formatInstant(at)}`;
  const whose = `${before}${truncate(who ?? 'somebody unknown', NAME_LENGTH)}`;
  return `${whose} ${what}${when}, while it was to sleep. Headroom leaves it until the schedule wakes it`;
}

export function personsAutoscalerSentence(who: string): string {
  return `${truncate(who, NAME_LENGTH)} changed its autoscaler, while it was to sleep. Headroom leaves that until the schedule wakes it`;
}

export function graceSentence(until: EpochMs): string {
  return `it is new, and is put to sleep at ${formatInstant(until)}`;
}

/** @param what `scaled it up`. */
export function contestedSentence(manager: string, what: string, until: EpochMs): string {
  const again = `${truncate(manager, NAME_LENGTH)} ${what} again. It is put to sleep at ${formatInstant(until)}`;
  return `${again}. ${excludeAdvice(manager)}`;
}

export function handedOverSentence(taker: string): string {
  return `it is handed over to the schedule ${taker}`;
}

export function ownerSentence(owner: string, isMarked: boolean): string {
  const why = isMarked ? 'put it to sleep and wakes it' : 'is older and selects it too';
  return `it belongs to the schedule ${owner}, which ${why}`;
}

/** @param component `KEDA`. */
export function protectedSentence(component: string): string {
  return `it is a part of ${component}, which no schedule puts to sleep`;
}

export function controllerSentence({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `it belongs to the ${kind} ${name}, whose controller sets its replicas. To put it to sleep all the same, set spec.controllerOwned: scale`;
}

interface OwnerName {
  readonly kind: string;
  readonly name: string;
}

function ownerOf({ kind, name }: OwnerName): string {
  return `its owner, the ${kind} ${truncate(name, NAME_LENGTH)},`;
}

/** @param ownerHas null: no number. */
export function ownerDiffersSentence(owner: OwnerName, ownerHas: number | null, has: number): string {
  const number = ownerHas === null ? 'has no number of replicas' : `has ${ownerHas}`;
  return `it is left alone: ${ownerOf(owner)} ${number}, and it has ${replicasOf(has)}, so the number means something else or the operator has not followed yet`;
}

export function ownerSharedSentence(owner: OwnerName): string {
  return `it is left alone: ${ownerOf(owner)} has other workloads with the same number, and nobody can tell which of them the number is about`;
}

export function ownerLagsSentence(owner: OwnerName, ownerHas: number, has: number): string {
  return `${ownerOf(owner)} has ${ownerHas}, and it still has ${replicasOf(has)}: the operator has not followed yet`;
}

export function volumesSentence(): string {
  return `it stays up: scaled down, Kubernetes would delete its volumes (persistentVolumeClaimRetentionPolicy.whenScaled is Delete). The annotation ${DELETES_VOLUMES}: "true" lets it sleep all the same`;
}

/** @param autoscaler the one that is full; null: the workload itself. */
export function fullSentence(autoscaler: { readonly kind: string; readonly name: string } | null): string {
  const whose =
    autoscaler === null
      ? 'its annotations'
      : `the annotations of its ${autoscaler.kind} ${truncate(autoscaler.name, NAME_LENGTH)}`;
  return `it stays up: ${whose} leave no room for those by which Headroom wakes it again (Kubernetes takes 256 KiB of an object). Take some away, or shorten them`;
}

export function exclusionSentence(until: EpochMs, isOfNamespace: boolean): string {
  const whose = isOfNamespace ? 'the annotation of its namespace' : 'its annotation';
  return `it is left alone until ${formatInstant(until)}, by ${whose} ${EXCLUDE_UNTIL}`;
}

export function badExclusionSentence(value: string): string {
  const shown = JSON.stringify(truncate(value, NAME_LENGTH));
  return `the annotation ${EXCLUDE_UNTIL} is ${shown}, which cannot be read, so nothing is put to sleep: expected ${MOMENT_FORM}`;
}

export function badNamespaceExclusionSentence(): string {
  return `it stays up: the annotation ${EXCLUDE_UNTIL} of its namespace cannot be read`;
}

/** @param kept what the memory has: `3 replicas`, or `running`. */
export function recalledSentence(kept: string): string {
  return `somebody removed its marks. Headroom wakes it to what its memory says: ${kept}`;
}

export function markLostSentence(kept: string, person: string): string {
  return `its marks are gone, and ${person} wrote it since. Headroom leaves it as it is, and not as its memory says: ${kept}`;
}

export function markDiffersSentence(kept: string, marked: number): string {
  return `its mark says ${replicasOf(marked)}, and Headroom's memory ${kept}. Headroom follows the mark`;
}

/** @param of replicas; `remembered` is null where the memory has none. */
export function overruledMarkSentence(of: { readonly marked: number; readonly remembered: number | null }): string {
  const mark = `its mark says ${replicasOf(of.marked)}`;
  return of.remembered === null
    ? `${mark}, and Headroom's memory has no number: its owner keeps its present number`
    : `${mark}, and Headroom's memory ${replicasOf(of.remembered)}. Its owner gets the number of the memory`;
}

/**
 * Advice about a manager that scales workloads up again: one sentence without its full stop. Argo CD and Flux are
 * recognized by their controllers' names in managed fields; for any other manager the advice is general.
 */
export function excludeAdvice(manager: string): string {
  if (/argo/i.test(manager)) {
    return 'In Argo CD, ignore the field: ignoreDifferences with jsonPointers /spec/replicas (of a CronJob /spec/suspend), and the sync option RespectIgnoreDifferences=true';
  }
  if (/helm-controller/i.test(manager)) {
    return 'In Flux, leave replicas (suspend) out of the chart values, or name /spec/replicas (/spec/suspend) in spec.driftDetection.ignore of the HelmRelease';
  }
  if (/kustomize-controller|flux|gotk/i.test(manager)) {
    return 'In Flux, leave replicas (of a CronJob suspend) out of the manifest in Git: kustomize-controller sets only what is in it';
  }
  return 'Keep this manager from setting the field, or leave the workload out with excludeLabels';
}
