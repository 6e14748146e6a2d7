/** Where the status of quotas is wrong, in words for a terminal. */
import type { Comparison, WrongQuota } from './compare.ts';
import { count, left, nameOf, right } from './overview-text.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import { columns } from '../columns.ts';

export function comparisonText(
  { cluster, compared, wrong, restless, unmeasured }: Comparison,
  terminal: Terminal,
): string {
  const verdict =
    wrong.length === 0
      ? `${count(compared, 'quota')} of ${cluster} compared: every status that could be counted is true.`
      : `${wrong.length} of ${count(compared, 'quota')} of ${cluster} ${wrong.length === 1 ? 'has' : 'have'} a status that is wrong.`;
  return [
    ...wrong.flatMap((quota) => [...wrongLines(quota, terminal), '']),
    ...restless.flatMap((quota) =>
      wrapped(
        `${nameOf(quota)} changes all the time: whether ${quota.resources.join(', ')} ${quota.resources.length === 1 ? 'is' : 'are'} wrong or only late is unknown.`,
        0,
        terminal,
      ),
    ),
    ...unmeasured.flatMap((quota) =>
      wrapped(`${nameOf(quota)}: ${quota.resources.join(', ')} not compared: ${quota.reason}.`, 0, terminal),
    ),
    ...wrapped(verdict, 0, terminal),
    '',
  ].join('\n');
}

function wrongLines(quota: WrongQuota, terminal: Terminal): readonly string[] {
  const { differences, reported } = quota;
  const rows = differences.map(({ field, resource, shown, counted, difference }) => [
    left(field),
    left(resource),
    right(shown ?? 'nothing'),
    right(counted ?? 'nothing'),
    right(difference === null || difference.startsWith('-') ? (difference ?? '') : `+${difference}`),
  ]);
  const heading = [left('FIELD'), left('RESOURCE'), right('STATUS SAYS'), right('COUNTED'), right('DIFFERENCE')];
  const [head = '', ...lines] = columns([heading, ...rows], 2);
  return [
    coloured(nameOf(quota), 'bold', terminal),
    coloured(head, 'dim', terminal),
    ...lines,
    ...(reported === null ? [] : wrapped(`reported by Headroom at ${reported.at}: ${reported.message}`, 2, terminal)),
  ];
}
