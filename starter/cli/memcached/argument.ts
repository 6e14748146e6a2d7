import { InvalidArgumentError } from 'commander';
import { isNamespaceName, isObjectName } from '../names.ts';

/** A Memcached as people name it. */
export interface MemcachedArgument {
  readonly namespace: string;
  readonly name: string;
}

export const EXPECTED = '<namespace>/<name>, such as team-a/sessions';

export function memcachedArgument(text: string): MemcachedArgument {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (isNamespaceName(namespace) && isObjectName(name) && rest.length === 0) return { namespace, name };
  throw new InvalidArgumentError(`"${text}" is not ${EXPECTED}`);
}
