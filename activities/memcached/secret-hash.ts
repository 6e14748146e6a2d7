import { createHash } from 'node:crypto';

export interface SecretData {
  readonly name: string;
  /** The values in Base64, as Kubernetes has them. */
  readonly data: Readonly<Record<string, string>>;
}

/**
 * A hash of what pods mount, as the first implementation counts it, so that taking over from it restarts no pod. Empty where there
 * is no data.
 */
export function secretHash(secrets: readonly SecretData[]): string {
  if (secrets.every(({ data }) => Object.keys(data).length === 0)) return '';
  const hash = createHash('sha256');
  for (const { name, data } of secrets.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const key of Object.keys(data).toSorted()) {
      hash
        .update(name)
        .update('\0')
        .update(key)
        .update('\0')
        .update(Buffer.from(data[key] ?? '', 'base64'));
    }
  }
  return hash.digest('hex');
}
