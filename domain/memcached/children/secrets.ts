import type { MemcachedSpec } from '../api/memcached.ts';

/** The names of the Secrets that the pods mount. */
export function referencedSecrets({ security: { sasl, tls } = {} }: MemcachedSpec): readonly string[] {
  const names = [
    sasl?.enabled === true ? sasl.credentialsSecretRef?.name : undefined,
    tls?.enabled === true ? tls.certificateSecretRef?.name : undefined,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as readonly string[];
}

/** As the API server takes them. */
export const LONGEST_SECRET_NAME = 253;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const NAME = String.raw`${LABEL}(\.${LABEL})*`;
/** Nothing says that there is none. */
export const SECRET_NAME_OR_NOTHING = `^(${NAME})?$`;
const SECRET_NAME = new RegExp(`^${NAME}$`);

/** Whether there can be a Secret of this name: with any other, a request would ask for something else. */
export function isSecretName(name: string): boolean {
  return name.length <= LONGEST_SECRET_NAME && SECRET_NAME.test(name);
}
