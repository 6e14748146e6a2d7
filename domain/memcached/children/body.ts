/** What the objects of a Memcached have in common. */
import type { Memcached } from '../api/memcached.ts';
import { APPLIED, GROUP, KIND, VERSION } from '../api/names.ts';
import { fingerprint } from './fingerprint.ts';

/** An object to apply. */
export interface Body {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly object[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Only a ConfigMap has it. */
  readonly data?: Readonly<Record<string, string>>;
}

export type BodyParts = Pick<Body, 'spec' | 'data'> & {
  readonly apiVersion: string;
  readonly kind: string;
  /** What the name has after the Memcached's. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
};

/** Those by which users, selectors and the first implementation know the objects of a Memcached. */
export function standardLabels(name: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'memcached',
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/managed-by': 'memcached-operator',
  };
}

/** Selects every object of every Memcached. */
export const EVERY_CHILD = 'app.kubernetes.io/name=memcached,app.kubernetes.io/managed-by=memcached-operator';

/** An object of the Memcached: called as it is, or after it, owned by it, with its labels above all others. */
export function bodyOf(
  { name, namespace, uid }: Pick<Memcached, 'name' | 'namespace' | 'uid'>,
  { apiVersion, kind, suffix = '', labels = {}, annotations = {}, ...content }: BodyParts,
): Body {
  const owner = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: KIND,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const metadata = {
    name: `${name}${suffix}`,
    namespace,
    labels: { ...labels, ...standardLabels(name) },
    ownerReferences: [owner],
  };
  const applied = fingerprint({ apiVersion, kind, metadata, annotations, ...content });
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, annotations: { ...annotations, [APPLIED]: applied } },
    ...content,
  };
}

/** Without the fields that are undefined: an apply names what it wants, and never null. */
export function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
