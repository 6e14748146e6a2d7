import type { Suite } from '../adapter.ts';
import { memcachedApiKinds } from './api.ts';
import { memcachedChildKinds } from './children.ts';

/** The cases of the memcached operator. */
export const memcachedSuites: readonly Suite[] = [
  { files: ['memcached'], kinds: { ...memcachedApiKinds, ...memcachedChildKinds } },
];
