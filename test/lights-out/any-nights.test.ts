import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lightsOutDefinition } from '../../domain/lights-out/schedule/definition.ts';
import * as names from '../../domain/lights-out/schedule/names.ts';
import { OBJECT_RESOURCES } from '../../domain/lights-out/workload/kinds.ts';
import { isRecord } from '../../domain/kernel/record.ts';
import { seed } from '../kernel/seed.ts';
import { anyNights, isReadable } from './any-nights.ts';

const schema = z.looseObject({
  type: z.string(),
  enum: z.array(z.string()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
});
type Schema = z.infer<typeof schema>;

const spec = z
  .object({
    spec: z.object({
      versions: z.tuple([
        z.looseObject({
          schema: z.object({ openAPIV3Schema: z.looseObject({ properties: z.looseObject({ spec: schema }) }) }),
        }),
      ]),
    }),
  })
  .parse(lightsOutDefinition()).spec.versions[0].schema.openAPIV3Schema.properties.spec;

/** Every field with its path, and every value of those that have few: `ownTimes=any`. */
function pathsOf(part: unknown, path: string): readonly string[] {
  if (part === undefined) return [];
  const { properties = {}, items, additionalProperties, enum: values = [] }: Schema = schema.parse(part);
  return [
    path,
    ...values.map((value) => `${path}=${value}`),
    ...Object.entries(properties).flatMap(([name, inner]) => pathsOf(inner, `${path}.${name}`)),
    ...pathsOf(items, `${path}[]`),
    ...pathsOf(additionalProperties, `${path}{}`),
  ];
}

/** The same of a value that is of this schema. */
function drawnPaths(part: unknown, value: unknown, path: string): readonly string[] {
  const { properties, items, additionalProperties, enum: values }: Schema = schema.parse(part);
  const inside = isRecord(value)
    ? Object.entries(value).flatMap(([name, inner]) =>
        properties === undefined
          ? drawnPaths(additionalProperties, inner, `${path}{}`)
          : drawnPaths(properties[name], inner, `${path}.${name}`),
      )
    : Array.isArray(value)
      ? value.flatMap((inner) => drawnPaths(items, inner, `${path}[]`))
      : [];
  return [path, ...(values === undefined ? [] : [`${path}=${String(value)}`]), ...inside];
}

const drawn = fc.sample(anyNights, { seed, numRuns: 800 }).filter(isReadable);
const objects = drawn.flatMap(({ workloads }) => workloads.flat());

const target = z.object({ kind: z.string().default('its default') });

/** What of these is not among the others. */
function missing(all: readonly string[], found: Iterable<string>): readonly string[] {
  const has = new Set(found);
  return all.filter((one) => !has.has(one));
}

/** On objects that schedules write to, or none of people's. */
const NOT_ON_WORKLOADS: readonly string[] = [names.FINALIZER, names.MEMORY_OF, names.CALENDAR, names.TAKES_OVER];

describe('the schedules that are drawn for the API server', () => {
  it('have every field of the definition, and every value of those that have few', () => {
    const found = drawn.flatMap(({ schedule }) => drawnPaths(spec, schedule.spec, 'spec'));
    expect(missing(pathsOf(spec, 'spec'), found)).toEqual([]);
  });

  it('have, with their namespaces and workloads, every annotation that LightsOut knows', () => {
    const keys = Object.values(names).filter(
      (name) => typeof name === 'string' && /^(?:lightsout\.techsupport\.mk|autoscaling\.keda\.sh)\//.test(name),
    );
    const wishes = [
      names.WAKE_UNTIL,
      names.SLEEP_UNTIL,
      names.EXCLUDE_UNTIL,
      names.OWN_TIMES,
      names.OWN_REPLICAS,
    ] as const;
    const onObjects = objects.flatMap(({ metadata }) => Object.keys(metadata.annotations));
    const onNamespaces = drawn.flatMap(({ namespace }) => Object.keys(namespace.annotations));
    const onSchedules = drawn.flatMap(({ schedule }) => Object.keys(schedule.annotations));
    expect(keys.length).toBeGreaterThan(15);
    expect(missing(missing(keys as string[], NOT_ON_WORKLOADS), onObjects)).toEqual([]);
    expect(missing(wishes, onNamespaces)).toEqual([]);
    expect(missing([names.WAKE_UNTIL, names.SLEEP_UNTIL, names.TAKES_OVER], onSchedules)).toEqual([]);
  });

  it('are about every kind of object that a schedule writes to, and every kind that an autoscaler scales', () => {
    expect(
      missing(
        Object.keys(OBJECT_RESOURCES),
        objects.map(({ kind }) => kind),
      ),
    ).toEqual([]);
    const scaled = objects.flatMap(({ kind, spec: { scaleTargetRef } }) => {
      const { data } = target.safeParse(scaleTargetRef);
      return data === undefined ? [] : [`${kind} of ${data.kind}`];
    });
    const targets = ['Deployment', 'StatefulSet', 'Rollout'];
    const all = ['HorizontalPodAutoscaler', 'ScaledObject'].flatMap((kind) => targets.map((to) => `${kind} of ${to}`));
    expect(missing([...all, 'ScaledObject of its default'], scaled)).toEqual([]);
  });
});
