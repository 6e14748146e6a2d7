/** A distribution of spans in milliseconds, as a load test reports it. */
export interface Distribution {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * The smallest value that at least this part of the values does not exceed (nearest rank), so that a percentile is always
 * a value that was measured.
 *
 * @param part above 0, up to 1.
 * @throws RangeError for no values.
 */
function percentile(ascending: readonly number[], part: number): number {
  const value = ascending[Math.max(0, Math.ceil(part * ascending.length) - 1)];
  if (value === undefined) throw new RangeError('no values');
  return value;
}

/** The distribution of the values, in any order; null for none. */
export function distributionOf(values: readonly number[]): Distribution | null {
  if (values.length === 0) return null;
  const ascending = values.toSorted((a, b) => a - b);
  return {
    count: ascending.length,
    p50: percentile(ascending, 0.5),
    p90: percentile(ascending, 0.9),
    p99: percentile(ascending, 0.99),
    max: percentile(ascending, 1),
  };
}
