/** A Memcached in a namespace of a named cluster. */
export interface MemcachedTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** The workflow id of a Memcached; at most one episode runs for it. */
export function memcachedId({ cluster, namespace, name }: MemcachedTarget): string {
  return `memcached/${cluster}/${namespace}/${name}`;
}

/** `<namespace>/<name>`, the value of the search attribute `HeadroomTarget` and the short name in messages. */
export function memcachedName({ namespace, name }: Omit<MemcachedTarget, 'cluster'>): string {
  return `${namespace}/${name}`;
}
