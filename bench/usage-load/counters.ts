/**
 * The counters of one prefix in the text that Prometheus reads, without the prefix, summed over their labels:
 * `recounts_total`.
 */
export function countersIn(text: string, prefix: string): Readonly<Record<string, number>> {
  const counters: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || !name.startsWith(prefix) || !name.endsWith('_total')) continue;
    const counter = name.slice(prefix.length);
    counters[counter] = (counters[counter] ?? 0) + Number(value);
  }
  return counters;
}

/** How much each counter has grown. */
export function grownBy(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
}
