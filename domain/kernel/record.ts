/** Whether it is an object with keys of its own, as YAML and JSON have them: no list, and not null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What the record has by this key itself. Keys that a cluster names (labels, topology keys, resources, groups) may be called as
 * something that every object inherits, such as `constructor`.
 */
export function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether two records have the same texts by the same names. */
export function equalTexts(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === ownValue(b, key));
}
