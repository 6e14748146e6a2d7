/** A plan as it travels between activities and workflows. */
import { type ItemGroup, packItems, unpackItems } from './packed.ts';
import type { Plan } from './plan.ts';

export type PackedPlan = Omit<Plan, 'items'> & { readonly items: readonly ItemGroup[] };

export function packPlan({ items, ...rest }: Plan): PackedPlan {
  return { ...rest, items: packItems(items) };
}

/** @throws Error for items that `packPlan` does not write. */
export function unpackPlan({ items, ...rest }: PackedPlan): Plan {
  return { ...rest, items: unpackItems(items) };
}
