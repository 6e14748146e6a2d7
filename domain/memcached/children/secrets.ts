import type { MemcachedSpec } from '../api/memcached.ts';

/** What memcached reads of a Secret for passwords. */
export const PASSWORD_KEYS: readonly string[] = ['password-file'];

/** What memcached reads of a Secret for TLS. */
export function certificateKeys({ security }: Pick<MemcachedSpec, 'security'>): readonly string[] {
  return ['tls.crt', 'tls.key', ...(security?.tls?.enableClientCert === true ? ['ca.crt'] : [])];
}

/** The Secrets that the pods mount, by name, each with the keys that they need. */
function mountedKeys(spec: Pick<MemcachedSpec, 'security'>): ReadonlyMap<string, ReadonlySet<string>> {
  const { sasl, tls } = spec.security ?? {};
  const mounted = new Map<string, ReadonlySet<string>>();
  const mount = (name: string | undefined, keys: readonly string[]): void => {
    if (name !== undefined && name !== '') mounted.set(name, new Set([...(mounted.get(name) ?? []), ...keys]));
  };
  if (sasl?.enabled === true) mount(sasl.credentialsSecretRef?.name, PASSWORD_KEYS);
  if (tls?.enabled === true) mount(tls.certificateSecretRef?.name, certificateKeys(spec));
  return mounted;
}

/** The names of the Secrets that the pods mount. */
export function referencedSecrets(spec: Pick<MemcachedSpec, 'security'>): readonly string[] {
  return [...mountedKeys(spec).keys()];
}

/**
 * What a Secret lacks of what the pods mount, each as `KEY of SECRET`: a pod waits for ever for a key that is not there, and memcached does
 * not start with an empty file.
 *
 * @param data its values in Base64.
 */
export function lackingKeys(
  spec: Pick<MemcachedSpec, 'security'>,
  { name, data }: { readonly name: string; readonly data: Readonly<Record<string, string>> },
): readonly string[] {
  const keys = [...(mountedKeys(spec).get(name) ?? [])];
  return keys.filter((key) => !Object.hasOwn(data, key) || data[key] === '').map((key) => `${key} of ${name}`);
}

/** The API server takes no longer names of Secrets. */
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
