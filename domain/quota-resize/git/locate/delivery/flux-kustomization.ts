/** Reads a Flux Kustomization: an object of the cluster or of a file. */
import { z } from 'zod';
import { optionalField } from './optional-field.ts';
import { type FluxSourceRef, fluxSourceRef } from './flux-source-ref.ts';

const text = optionalField(z.string());
const kustomization = z.object({
  spec: z.object({
    path: text,
    targetNamespace: text,
    patches: optionalField(z.array(z.object({ patch: text, target: optionalField(z.object({ kind: text })) }))),
    sourceRef: fluxSourceRef,
  }),
});

export interface FluxKustomization {
  readonly path?: string;
  /** What it applies into. */
  readonly namespace?: string;
  /** Absent only in a file. */
  readonly sourceRef?: FluxSourceRef;
  readonly patches: readonly { readonly patch?: string | undefined; readonly kind?: string | undefined }[];
}

/** Null for an object of another form. */
export function readKustomization(object: unknown): FluxKustomization | null {
  const read = kustomization.safeParse(object);
  if (!read.success) return null;
  const { path, targetNamespace, patches = [], sourceRef } = read.data.spec;
  return {
    ...(path === undefined ? {} : { path }),
    ...(targetNamespace ? { namespace: targetNamespace } : {}),
    ...(sourceRef === undefined ? {} : { sourceRef }),
    patches: patches.map(({ patch, target }) => ({ patch, kind: target?.kind })),
  };
}

/** Whether one of its patches may change objects of the kind. */
export function patchesKind({ patches }: FluxKustomization, wanted: 'ResourceQuota' | 'HelmRelease'): boolean {
  return patches.some(({ patch = '', kind }) => (kind === undefined ? patch.includes(wanted) : kind === wanted));
}
