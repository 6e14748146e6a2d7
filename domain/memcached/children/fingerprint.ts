const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/** A short text that is the same for the same JSON, whatever the order of its keys: FNV-1a of 64 bits. */
export function fingerprint(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(sorted(value)));
  let hash = OFFSET;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  return hash.toString(16).padStart(16, '0');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}
