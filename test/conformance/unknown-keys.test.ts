import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { kubernetesObject } from './kubernetes-object.ts';
import { keysOf, unknownKeys } from './unknown-keys.ts';

/** The keys of a value that nobody reads by this schema; null where the value fits. */
function unknown(schema: z.ZodType, value: unknown): readonly string[] | null {
  const { error } = schema.safeParse(value);
  return error === undefined ? null : unknownKeys(error.issues);
}

describe('the keys that nobody reads', () => {
  const pod = z.strictObject({ name: z.string(), ports: z.array(z.strictObject({ port: z.number() })) });

  it('are found at every level, beside what else is wrong', () => {
    expect(unknown(pod, { name: 'a', ports: [] })).toBeNull();
    expect(unknown(pod, { name: 1, ports: [{ port: 1, colour: 'red' }], size: 2 })).toEqual([
      '.ports[].colour',
      '.size',
    ]);
    expect(unknown(pod, { name: 1, ports: [] })).toEqual([]);
  });

  it('of a union are those that none of its members has', () => {
    const either = z.union([z.string(), pod, z.strictObject({ number: z.number() })]);
    expect(unknown(either, { number: 1, colour: 'red' })).toEqual(['.colour']);
    expect(unknown(either, { number: 'one' })).toEqual([]);
    expect(unknown(either, { name: 'a' })).toEqual([]);
    expect(unknown(either, 7)).toEqual([]);
  });

  it('of a type of Headroom are found where a value is wrong as well, but not in what it hands on', () => {
    const spec = z.object({
      replicas: z.int().default(1),
      server: z.object({ size: z.string() }).optional(),
      labels: z.record(z.string(), z.string()),
      context: z.looseObject({}),
      limits: z.array(z.object({ rate: z.int() }).nullable()),
    });
    const value = {
      replicas: 'three',
      server: { size: 1, colour: 'red' },
      labels: { anything: 'x' },
      context: { anything: 1 },
      limits: [{ rate: 1 }, null, { rate: 1, burst: 2 }],
    };
    expect(unknown(keysOf(spec), value)).toEqual(['.server.colour', '.limits[].burst']);
    expect(unknown(keysOf(spec), { replicas: 'three', labels: 7 })).toBeNull();
  });

  it("of an object are those that Kubernetes' API has not", () => {
    const object = kubernetesObject('V1Pod');
    const spec = { containers: [{ name: 'a', resources: { requests: { 'example.com/gpu': '1' } } }] };
    expect(unknown(object, { metadata: { labels: { any: 'x' } }, spec })).toBeNull();
    expect(unknown(object, { spec: { ...spec, requests: {} }, containers: [] })).toEqual([
      '.spec.requests',
      '.containers',
    ]);
    expect(unknown(object, { spec: { containers: [{ resources: { wishes: {} } }] } })).toEqual([
      '.spec.containers[].resources.wishes',
    ]);
  });
});
