/** What the cases of node groups have in common: Kubernetes' objects in the short forms of the case files. */
import * as z from 'zod';
import { amountsOf } from '../../../domain/kernel/amounts.ts';
import type { Amounts } from '../../../domain/kernel/amounts.ts';
import type { NodeSelectorRequirement, Taint, Toleration } from '../../../domain/node-group/model/pod.ts';
import { type Adapter, adapter, type Comparison, NotApplicable, UnknownShape } from '../adapter.ts';

export const MINUTE_MS = 60_000;

export const stringMap = z.record(z.string(), z.string()).default({});

/** An empty text is Go's way to say nothing: the API server leaves the field out. */
const some = z
  .string()
  .optional()
  .transform((text) => text || undefined);

export const tolerations = z
  .array(z.object({ key: some, operator: some, value: some, effect: some }))
  .default([])
  .transform((all) => all.map((one) => defined(one) as Toleration));

export const taints = z
  .array(z.object({ key: z.string(), value: some, effect: z.string() }))
  .default([])
  .transform((all) => all.map((one) => defined(one) as unknown as Taint));

export const requirement = z
  .object({ key: z.string(), operator: z.string(), values: z.array(z.string()).default([]) })
  .transform((one) => one as NodeSelectorRequirement);

/** A resource list with the amounts that scheduling calculates with. */
export const amounts = z
  .object({ cpu: z.string().default('0'), memory: z.string().default('0') })
  .transform((list) => amountsOf(list));

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The same amounts of CPU and memory, however they are written; other keys as JSON. */
export function sameRequests(expected: unknown, got: unknown): boolean {
  const [wanted, had] = [expected, got] as Readonly<Record<string, unknown>>[];
  return Object.entries(wanted ?? {}).every(([key, value]) =>
    key === 'cpu' || key === 'memory' ? amountsOf({ [key]: value })[key] === had?.[key] : value === had?.[key],
  );
}

/** Only CPU and memory, 0 where nothing is requested. */
export function cpuAndMemory({ cpu = 0, memory = 0 }: Amounts): { readonly cpu: number; readonly memory: number } {
  return { cpu, memory };
}

/** The expected keys; nothing expected and nothing answered are the same, and `>0` is any positive number. */
export function sameAnswers(expected: unknown, got: unknown): boolean {
  const [wanted, had] = [expected, got] as Readonly<Record<string, unknown>>[];
  return Object.entries(wanted ?? {}).every(([key, value]) => sameValue(value, had?.[key]));
}

function sameValue(expected: unknown, got: unknown): boolean {
  if (expected === null || expected === '') return got === undefined || got === null || got === '';
  if (expected === '>0') return typeof got === 'number' && got > 0;
  return JSON.stringify(expected) === JSON.stringify(got);
}

/** A kind of which the sample has no case: a form that is not the one here is not applicable, and says nothing of Headroom. */
export function unsampled<Input>(
  schema: z.ZodType<Input>,
  compute: (input: Input) => object,
  same: Comparison = sameAnswers,
): Adapter {
  const run = adapter(
    schema,
    (input, expected) => {
      const answer = compute(input);
      const unknown = Object.keys(expected as object).find((key) => !(key in answer));
      if (unknown !== undefined)
        throw new NotApplicable(`the sample has no such case, and none that asks for ${unknown}`);
      return answer;
    },
    same,
  );
  return (testCase) => {
    try {
      return run(testCase);
    } catch (error) {
      if (error instanceof UnknownShape) throw new NotApplicable(`the sample has no such case: ${error.message}`);
      throw error;
    }
  };
}
