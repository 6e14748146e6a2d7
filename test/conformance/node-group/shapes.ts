/** What the cases of node groups have in common: Kubernetes' objects in the short forms of the case files. */
import * as z from 'zod';
import { amountsOf } from '../../../domain/kernel/amounts.ts';
import type { Amounts } from '../../../domain/kernel/amounts.ts';
import type { NodeSelectorRequirement, Taint, Toleration } from '../../../domain/node-group/model/pod.ts';

export const MINUTE_MS = 60_000;

/** What is expected of a kind that answers with one thing. */
export const flag = (key: string) => z.strictObject({ [key]: z.boolean() });
export const count = (key: string) => z.strictObject({ [key]: z.number() });

export const stringMap = z.record(z.string(), z.string()).default({});

/** An empty text is Go's way to say nothing: the API server leaves the field out. */
const some = z
  .string()
  .optional()
  .transform((text) => text || undefined);

export const tolerations = z
  .array(z.strictObject({ key: some, operator: some, value: some, effect: some }))
  .default([])
  .transform((all) => all.map((one) => defined(one) as Toleration));

export const taints = z
  .array(z.strictObject({ key: z.string(), value: some, effect: z.string() }))
  .default([])
  .transform((all) => all.map((one) => defined(one) as unknown as Taint));

export const requirement = z
  .strictObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).default([]) })
  .transform((one) => one as NodeSelectorRequirement);

/** A resource list with the amounts that scheduling calculates with. */
export const amounts = z
  .strictObject({ cpu: z.string().default('0'), memory: z.string().default('0') })
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
