/** The writes of a worker that went through the gate, and how the same write of another Memcached is recognised. */
import type { KubernetesGate } from '../kernel/servers/kubernetes-gate.ts';

/** A write that took effect. A Memcached is called as its namespace is. */
export interface MadeWrite {
  readonly method: string;
  readonly path: string;
  readonly namespace: string;
  /** `PATCH deployments/{namespace}`. */
  readonly shape: string;
  /** The number of it among those of its shape, counted from 1. */
  readonly nth: number;
  /** Whether it is of an object that a Memcached owns: neither its status nor an Event. */
  readonly isOfChild: boolean;
}

/** In the order in which they took effect. */
export function writesIn(gate: KubernetesGate, namespace: string): readonly MadeWrite[] {
  const seen = new Map<string, number>();
  return gate.writes
    .filter(({ path, status }) => status < 300 && path.includes(`/namespaces/${namespace}/`))
    .map(({ method, path }) => {
      const [, rest = ''] = path.split(`/namespaces/${namespace}/`);
      const shape = `${method} ${rest.replaceAll(namespace, '{namespace}')}`;
      const nth = (seen.get(shape) ?? 0) + 1;
      seen.set(shape, nth);
      return { method, path, namespace, shape, nth, isOfChild: !/^\w+ (events|memcacheds)\b/.test(shape) };
    });
}

/** Matches the path of a write in one namespace for another Memcached. */
export function exactPath(path: string, from: string, to: string): RegExp {
  return new RegExp(`^${path.replaceAll(from, to)}$`);
}
