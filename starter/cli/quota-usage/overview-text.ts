/** All quotas of a cluster in words, for a terminal. */
import { barColumns, type Row } from './bar-columns.ts';
import { fullness, type QuotaFullness, type ResourceUsage } from '../../../domain/kernel/quota-fullness.ts';
import type { Overview } from './report.ts';
import { type Colour, coloured, type Terminal, wrapped } from '../terminal.ts';

/** From this percentage on a quota deserves attention; the resizer's default threshold. */
const NEARLY_FULL = 80;

/** @param allResources a row for each limit, and not for the fullest of each quota alone. */
export function overviewText({ cluster, quotas }: Overview, allResources: boolean, terminal: Terminal): string {
  if (quotas.length === 0) return `${cluster} has no ResourceQuota.\n`;
  const rows = quotas.flatMap((quota) =>
    (allResources ? quota.resources : quota.resources.slice(0, 1)).map((resource) => ({ quota, resource })),
  );
  const sorted = allResources ? rows.toSorted((a, b) => fullness(b.resource) - fullness(a.resource)) : rows;
  const unlimited = quotas.filter(({ resources }) => resources.length === 0).map(nameOf);
  const full = quotas.filter(({ resources: [first] }) => first !== undefined && fullness(first) >= NEARLY_FULL);
  const summary = `${full.length} of ${count(quotas.length, 'quota')} in ${cluster} ${full.length === 1 ? 'is' : 'are'} at ${NEARLY_FULL} % or more. headroom usage NAMESPACE shows what uses them.`;
  return [
    ...barColumns(
      [
        { cells: [left('QUOTA'), left('RESOURCE'), right('USED'), right('HARD')], bar: null, colour: 'bold' },
        ...sorted.map(({ quota, resource }) => resourceRow(resource, [nameOf(quota)])),
      ],
      0,
      terminal,
    ),
    ...(unlimited.length === 0 ? [] : wrapped(`Without any limit: ${unlimited.join(', ')}`, 0, terminal)),
    '',
    ...wrapped(summary, 0, terminal, 0).map((line) => coloured(line, 'dim', terminal)),
    '',
  ].join('\n');
}

/** A limit with its bar, after the cells that say whose it is. */
export function resourceRow({ resource, used, hard, ...rest }: ResourceUsage, before: readonly string[]): Row {
  return {
    cells: [...before.map(left), left(resource), right(used ?? '?'), right(hard)],
    bar: { used, hard },
    colour: colourOf(fullness({ resource, used, hard, ...rest })),
  };
}

export function nameOf({ namespace, quota }: Pick<QuotaFullness, 'namespace' | 'quota'>): string {
  return `${namespace}/${quota}`;
}

export function left(text: string): Row['cells'][number] {
  return { text };
}

export function right(text: string): Row['cells'][number] {
  return { text, right: true };
}

/** `1 quota`, `2 quotas`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Full or beyond is red, from 80 % on it is yellow. */
function colourOf(percent: number): Colour | undefined {
  if (percent >= 100) return 'red';
  return percent >= 80 ? 'yellow' : undefined;
}
