/** Reads a Flux HelmRelease: an object of the cluster or of a file. */
import { z } from 'zod';
import { type FluxSourceRef, fluxSourceRef } from './flux-source-ref.ts';
import { optionalField } from './optional-field.ts';

const text = optionalField(z.string());
const helmRelease = z.object({
  metadata: z.object({ name: z.string(), namespace: text }),
  spec: z.object({
    chart: optionalField(
      z.object({
        spec: z.object({
          chart: z.string(),
          valuesFiles: optionalField(z.array(z.string())),
          sourceRef: fluxSourceRef,
        }),
      }),
    ),
    releaseName: text,
    targetNamespace: text,
    values: optionalField(z.record(z.string(), z.unknown())),
    valuesFrom: optionalField(z.array(z.unknown())),
    postRenderers: optionalField(z.array(z.unknown())),
  }),
});

export interface HelmRelease {
  readonly name: string;
  /** What it installs into; absent only in a file. */
  readonly namespace?: string;
  readonly releaseName?: string;
  readonly chart?: {
    /** A chart's name, or its folder if the source is a repository of Git. */
    readonly path: string;
    readonly valueFiles: readonly string[];
    /** Absent only in a file. */
    readonly sourceRef?: FluxSourceRef;
  };
  /** Values that the object has itself. */
  readonly hasValues: boolean;
  /** Whether it takes values from objects of the cluster. */
  readonly hasValuesFrom: boolean;
  readonly changesQuotas: boolean;
}

/** Null for an object of another form. */
export function readHelmRelease(object: unknown): HelmRelease | null {
  const read = helmRelease.safeParse(object);
  if (!read.success) return null;
  const { metadata, spec } = read.data;
  const namespace = spec.targetNamespace ?? metadata.namespace;
  const chart = spec.chart?.spec;
  return {
    name: metadata.name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(spec.releaseName === undefined ? {} : { releaseName: spec.releaseName }),
    ...(chart === undefined
      ? {}
      : {
          chart: {
            path: chart.chart,
            valueFiles: chart.valuesFiles ?? [],
            ...(chart.sourceRef === undefined ? {} : { sourceRef: chart.sourceRef }),
          },
        }),
    hasValues: Object.keys(spec.values ?? {}).length > 0,
    hasValuesFrom: (spec.valuesFrom ?? []).length > 0,
    changesQuotas: JSON.stringify(spec.postRenderers ?? []).includes('ResourceQuota'),
  };
}
