import type { InVain } from '../model/in-vain.ts';
import type { Slot } from '../scheduling/packed.ts';
import { typeKey } from './type-key.ts';

/** What stands against nodes for pods, whatever the model believes: `in-vain.ts`. */
export interface Against {
  /** What came of nodes, by `typeKey`. */
  readonly types: ReadonlyMap<string, InVain>;
  /** Which node they may still be given, so that none is asked for at the moment; null where nothing is awaited. */
  readonly trial: string | null;
}

/** The nodes that nothing stands against. */
export function openTo(slots: readonly Slot[], against: Against | null): readonly Slot[] {
  if (against === null || against.types.size === 0) return slots;
  return slots.filter(
    ({ group, instanceType }) =>
      group === null || instanceType === null || !against.types.has(typeKey(group, instanceType)),
  );
}

/** Whether nothing stands against another node of the type for the pods. */
export function isAskedFor(against: Against | null, group: string, instanceType: string): boolean {
  return against === null || (against.trial === null && !against.types.has(typeKey(group, instanceType)));
}
