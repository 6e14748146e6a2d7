/** What a run hands on to the next one: all of its memory, or as much as fits where a very bad night made that large. */
import type { LightsOutMemory } from './memory.ts';

/** Characters of JSON. Temporal takes 2 MB; a state that is read at each start of a run is to be small. */
export const MOST_CARRIED = 100_000;

interface Part {
  readonly of: (memory: LightsOutMemory) => unknown;
  /** About half of it; nothing of it where that is not less. */
  readonly halved: (memory: LightsOutMemory) => LightsOutMemory;
}

/** What may be given up: each is found again by an observation, said a second time, or done a little earlier than it would be. */
const PARTS: readonly Part[] = [
  { of: ({ emitted }) => emitted, halved: (memory) => ({ ...memory, emitted: lastHalf(memory.emitted) }) },
  {
    of: ({ pendingEvents }) => pendingEvents,
    halved: (memory) => ({ ...memory, pendingEvents: lastHalf(memory.pendingEvents) }),
  },
  {
    of: ({ stage }) => stage?.workloads,
    halved: (memory) => {
      const { stage } = memory;
      return stage === null ? memory : { ...memory, stage: { ...stage, workloads: lastHalf(stage.workloads) } };
    },
  },
  {
    // Who was woken most often rests longest.
    of: ({ contested }) => contested,
    halved: (memory) => ({
      ...memory,
      contested: Object.fromEntries(
        lastHalf(Object.entries(memory.contested).toSorted(([, a], [, b]) => a.times - b.times)),
      ),
    }),
  },
  {
    // As where more have failed than are remembered by name.
    of: ({ failing, retry }) => (retry === null ? undefined : failing),
    halved: (memory) => {
      const { failing, retry } = memory;
      if (retry === null) return memory;
      return {
        ...memory,
        failing: Object.fromEntries(lastHalf(Object.entries(failing))),
        retry: { ...retry, isMany: true },
      };
    },
  },
  {
    of: ({ run }) => run?.namespaces,
    halved: (memory) => {
      const { run } = memory;
      return run === null ? memory : { ...memory, run: { ...run, namespaces: lastHalf(run.namespaces) } };
    },
  },
  {
    // What is not known to have joined in the night is judged from its beginning, as where too many are up.
    of: ({ joined }) => joined,
    halved: (memory) => ({
      ...memory,
      joined: Object.fromEntries(lastHalf(Object.entries(memory.joined ?? {}).toSorted(([, a], [, b]) => a - b))),
    }),
  },
  {
    of: ({ joinedWorkloads }) => joinedWorkloads,
    halved: (memory) => ({ ...memory, joinedWorkloads: lastHalf(memory.joinedWorkloads ?? []) }),
  },
  {
    of: ({ inEffect }) => inEffect?.earlier,
    halved: (memory) => {
      const { inEffect } = memory;
      return inEffect === null
        ? memory
        : { ...memory, inEffect: { ...inEffect, earlier: lastHalf(inEffect.earlier ?? []) } };
    },
  },
];

/** The memory as the next run gets it. Of what is largest, half is given up until all of it fits. */
export function carriable(memory: LightsOutMemory): LightsOutMemory {
  let fitting = memory;
  while (sizeOf(fitting) > MOST_CARRIED) {
    const sizes = PARTS.map(({ of }) => sizeOf(of(fitting)));
    const most = Math.max(...sizes);
    const part = PARTS[sizes.indexOf(most)];
    const less = part?.halved(fitting) ?? fitting;
    if (part === undefined || sizeOf(part.of(less)) >= most) return fitting;
    fitting = less;
  }
  return fitting;
}

function lastHalf<T>(list: readonly T[]): readonly T[] {
  return list.slice(Math.ceil(list.length / 2));
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
