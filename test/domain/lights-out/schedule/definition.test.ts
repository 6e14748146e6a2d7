import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lightsOutDefinition } from '../../../../domain/lights-out/schedule/definition.ts';
import { scheduleSpec, scheduleStatus } from '../../../../domain/lights-out/schedule/schedule.ts';

const schema = z.record(z.string(), z.unknown());
const definition = z
  .object({
    spec: z.object({
      versions: z.tuple([
        z.looseObject({
          schema: z.object({ openAPIV3Schema: z.looseObject({ properties: z.record(z.string(), schema) }) }),
        }),
      ]),
    }),
  })
  .parse(lightsOutDefinition());
const { properties } = definition.spec.versions[0].schema.openAPIV3Schema;

/** Every part of the schemas with its path. */
function partsOf(part: unknown, path: string): (readonly [path: string, part: Record<string, unknown>])[] {
  const { success, data } = schema.safeParse(part);
  if (!success) return [];
  const { properties = {}, items, additionalProperties } = data;
  return [
    [path, data] as const,
    ...Object.entries(schema.parse(properties)).flatMap(([name, inner]) => partsOf(inner, `${path}.${name}`)),
    ...partsOf(items, `${path}[]`),
    ...partsOf(additionalProperties, `${path}{}`),
  ];
}

const parts = [...partsOf(properties['spec'], 'spec'), ...partsOf(properties['status'], 'status')];
const keywordsAt = (path: string) => Object.fromEntries(parts)[path];

describe('the definition', () => {
  it('has every field of the type that the code reads, and no other', () => {
    const under = (path: string) =>
      parts.flatMap(([field]) => (new RegExp(`^${path}\\.\\w+$`).test(field) ? [field.slice(path.length + 1)] : []));
    expect(under('spec')).toEqual(Object.keys(scheduleSpec.shape));
    expect(under('status')).toEqual(Object.keys(scheduleStatus.shape));
  });

  it('is structural: every part has a type, and none has a keyword that the API server refuses', () => {
    expect(parts.length).toBeGreaterThan(80);
    const refused = /^\$|^propertyNames$|^anyOf$|^oneOf$|^patternProperties$/;
    const isStructural = (part: Record<string, unknown>) =>
      typeof part['type'] === 'string' &&
      !Object.keys(part).some((keyword) => refused.test(keyword)) &&
      !('properties' in part && 'additionalProperties' in part);
    expect(parts.flatMap(([path, part]) => (isStructural(part) ? [] : [path]))).toEqual([]);
  });

  it('bounds no integer by what a double can hold', () => {
    const isHuge = (bound: unknown) => Math.abs(Number(bound ?? 0)) > 1_000_000;
    expect(parts.filter(([, { minimum, maximum }]) => isHuge(minimum) || isHuge(maximum))).toEqual([]);
    expect(keywordsAt('status.observedGeneration')).toEqual({ type: 'integer' });
    expect(keywordsAt('spec.upscaleRateLimit.batchSize')).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
    });
  });

  it('has the defaults that the code fills in, and each of them is a value that its own part takes', () => {
    const read = scheduleSpec.parse({ upscale: '0 6 * * *', downscale: '0 18 * * *' });
    const defaults = parts.flatMap(([path, part]) => ('default' in part ? [[path, part] as const] : []));
    // What is inside of another part is in the default of that.
    const own = defaults.filter(([path]) => path.split('.').length === 2);
    expect(Object.fromEntries(own.map(([path, part]) => [path.replace('spec.', ''), part['default']]))).toEqual(
      Object.fromEntries(Object.entries(read).filter(([name]) => name !== 'upscale' && name !== 'downscale')),
    );
    const ajv = new Ajv({ strict: false });
    expect(defaults.filter(([, part]) => !ajv.validate(part, part['default']))).toEqual([]);
  });

  it('says of every rule what would be right', () => {
    const rules = parts.flatMap(([path, part]) => {
      const found = z.array(z.object({ rule: z.string(), message: z.string() })).optional();
      return (found.parse(part['x-kubernetes-validations']) ?? []).map((rule) => ({ path, ...rule }));
    });
    expect(rules.length).toBeGreaterThanOrEqual(18);
    expect(rules.filter(({ message }) => !message.includes('expected '))).toEqual([]);
  });

  it('knows which texts of the status are moments', () => {
    const moments = parts.flatMap(([path, { format }]) => (format === 'date-time' ? [path] : []));
    expect(moments.toSorted()).toEqual([
      'status.approved.at',
      'status.conditions[].lastTransitionTime',
      'status.lastDownscaleTime',
      'status.lastUpscaleTime',
      'status.nextDownscaleTime',
      'status.nextUpscaleTime',
      'status.overrides[].since',
      'status.overrides[].until',
    ]);
    expect(keywordsAt('status.conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });
});
