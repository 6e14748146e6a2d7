/** What a template becomes: the object as admission would store it, with every default that a quota counts or selects by. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { Claim } from '../../quota-usage/volume-claim-charge.ts';
import { type LimitRange, withDefaults } from '../../quota-usage/limit-range.ts';
import type { Pod } from '../../quota-usage/pod.ts';
import type { TemplateSpec } from './owner.ts';

/** What admission gives to the pods of a namespace that do not say it themselves. */
export interface PodDefaults {
  readonly limitRanges: readonly LimitRange[];
  /** The overhead of a pod, by the name of its RuntimeClass. */
  readonly overheads: Readonly<Record<string, ResourceList>>;
  /** The priority class that admission gives to a pod that names none. */
  readonly defaultPriorityClass: string | null;
}

/** The pod that is made of a pod template. */
export function storedPod(
  spec: TemplateSpec,
  { limitRanges, overheads, defaultPriorityClass }: PodDefaults,
): Pick<Pod, 'spec'> {
  const overhead = spec.overhead ?? overheads[spec.runtimeClassName ?? ''];
  const named = spec.priorityClassName ?? '';
  const priorityClassName = named === '' ? (defaultPriorityClass ?? undefined) : named;
  return { spec: { ...withDefaults(spec, limitRanges), overhead, priorityClassName } };
}

/** The claim that is made of a claim template: one that names no class has the default one. */
export function storedClaim(template: Claim, defaultStorageClass: string | null): Claim {
  const storageClassName = template.spec?.storageClassName ?? defaultStorageClass ?? undefined;
  return {
    metadata: template.metadata,
    spec: { ...template.spec, ...(storageClassName === undefined ? {} : { storageClassName }) },
  };
}
