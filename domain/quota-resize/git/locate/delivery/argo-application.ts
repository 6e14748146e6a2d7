/** Reads an Argo CD Application: an object of the cluster or of a file. */
import { z } from 'zod';
import { pathFrom } from '../tree/paths.ts';
import { optionalField } from './optional-field.ts';

const text = optionalField(z.string());
const source = z.object({
  repoURL: text,
  path: text,
  targetRevision: text,
  chart: text,
  ref: text,
  helm: optionalField(z.looseObject({ valueFiles: optionalField(z.array(z.string())), releaseName: text })),
  kustomize: optionalField(z.looseObject({ namespace: text })),
  directory: optionalField(z.object({ recurse: optionalField(z.boolean()) })),
});
const application = z.object({
  spec: z.object({
    source: optionalField(source),
    sources: optionalField(z.array(source)),
    destination: optionalField(z.object({ namespace: text })),
  }),
});

export type ArgoSource = z.infer<typeof source>;

export interface ArgoApplication {
  readonly sources: readonly ArgoSource[];
  /** Whether the sources are written as a list, `spec.sources`. */
  readonly listed: boolean;
  /** What it applies into. */
  readonly namespace?: string;
}

/** Null for an object of another form. */
export function readApplication(object: unknown): ArgoApplication | null {
  const read = application.safeParse(object);
  if (!read.success) return null;
  const { source: only, sources, destination } = read.data.spec;
  return {
    sources: sources ?? (only === undefined ? [] : [only]),
    listed: sources !== undefined,
    ...(destination?.namespace ? { namespace: destination.namespace } : {}),
  };
}

/** Fields of a source that override its files or change the result without being visible in them. */
const OVERRIDES = [
  'helm.values',
  'helm.valuesObject',
  'helm.parameters',
  'helm.fileParameters',
  'kustomize.namespace',
  'kustomize.namePrefix',
  'kustomize.nameSuffix',
  'kustomize.patches',
  'kustomize.components',
] as const;

export type ArgoOverride = (typeof OVERRIDES)[number];

/** The fields of the source itself that override files. */
export function overridesIn(from: ArgoSource): readonly ArgoOverride[] {
  return OVERRIDES.filter((override) => {
    const [tool, field] = override.split('.') as ['helm' | 'kustomize', string];
    return !isEmpty(from[tool]?.[field]);
  });
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/**
 * A values file of the source's chart, relative to the repository's root; null when it is elsewhere.
 *
 * @param isHere whether the source with this `ref` is the same tree.
 */
export function valuesFileOf(of: ArgoSource, file: string, isHere: (ref: string) => boolean): string | null {
  if (file.includes('://')) return null;
  const [, ref, rest = ''] = /^\$([^/]+)\/(.*)$/.exec(file) ?? [];
  if (ref !== undefined) return isHere(ref) ? (pathFrom('', rest) ?? null) : null;
  // A relative path starts at the chart's folder, a path with a leading slash at the repository's root.
  return pathFrom(file.startsWith('/') ? '' : (pathFrom('', of.path ?? '') ?? ''), file) ?? null;
}
