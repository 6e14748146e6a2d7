/** Turns a template into the object that admission would store, with every default that matters to a quota. */
import { ownValue } from '../../kernel/record.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import { type LimitRange, storedPodSpec } from '../../kernel/stored-pod.ts';
import type { Claim } from '../../quota-usage/volume-claim-charge.ts';
import type { Pod } from '../../quota-usage/pod.ts';
import type { Metadata, TemplateSpec } from './owner.ts';

/** Defaults that admission sets on the pods of a namespace. */
export interface PodDefaults {
  readonly limitRanges: readonly LimitRange[];
  /** The overhead of a pod, by the name of its RuntimeClass. */
  readonly overheads: Readonly<Record<string, ResourceList>>;
  /** The priority class that admission assigns to a pod without one. */
  readonly defaultPriorityClass: string | null;
}

/** The pod that would be created from a pod template. */
export function storedPod(
  spec: TemplateSpec,
  { limitRanges, overheads, defaultPriorityClass }: PodDefaults,
): Pick<Pod, 'spec'> {
  const podFixed = ownValue(overheads, spec.runtimeClassName ?? '');
  const runtimeClass = podFixed === undefined ? null : { overhead: { podFixed } };
  const named = spec.priorityClassName ?? '';
  const priorityClassName = named === '' ? (defaultPriorityClass ?? undefined) : named;
  return { spec: { ...storedPodSpec(spec, { limitRanges, runtimeClass }), priorityClassName } };
}

/** An administrator marks a class with one of them; the second is of Kubernetes 1.4 and still counts. */
const MARKED_AS_DEFAULT = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** The class of a volume claim without one: the newest of those that are marked as default, as admission chooses it; null without. */
export function defaultStorageClass(classes: readonly { readonly metadata?: Metadata }[]): string | null {
  const madeAt = ({ creationTimestamp }: Metadata): number => new Date(creationTimestamp ?? 0).getTime();
  const [first] = classes
    .map(({ metadata = {} }) => metadata)
    .filter(({ annotations }) => MARKED_AS_DEFAULT.some((mark) => annotations?.[mark] === 'true'))
    .toSorted((a, b) => madeAt(b) - madeAt(a) || ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
  return first?.name ?? null;
}

/** The volume claim that would be created from a claim template; without a class it gets the default one. */
export function storedClaim(template: Claim, defaultStorageClass: string | null): Claim {
  const storageClassName = template.spec?.storageClassName ?? defaultStorageClass ?? undefined;
  return {
    metadata: template.metadata,
    spec: { ...template.spec, ...(storageClassName === undefined ? {} : { storageClassName }) },
  };
}
