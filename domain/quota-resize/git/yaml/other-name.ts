// In a ResourceQuota the short names mean requests. `pods` and `count/pods` are different: the second includes finished
// pods.
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'requests.cpu': 'cpu',
  'requests.memory': 'memory',
  'requests.storage': 'storage',
  'requests.ephemeral-storage': 'ephemeral-storage',
};
const LONG_NAMES = Object.fromEntries(Object.entries(SHORT_NAMES).map(([long, short]) => [short, long]));

/** The other key of `spec.hard` for the same resource: `cpu` for `requests.cpu`, and the other way round. */
function otherNameOf(resource: string): string | undefined {
  return SHORT_NAMES[resource] ?? LONG_NAMES[resource];
}

/**
 * The key in a file or a quota for a resource: its own name, or else its other name if that name is not requested
 * itself.
 */
export function writtenKey(
  resource: string,
  asked: readonly string[],
  isWritten: (key: string) => boolean,
): string | undefined {
  if (isWritten(resource)) {
    return resource;
  }
  const other = otherNameOf(resource);
  return other !== undefined && !asked.includes(other) && isWritten(other) ? other : undefined;
}
