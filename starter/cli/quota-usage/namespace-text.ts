/** A namespace's quotas, what uses them and what waits for room, in words for a terminal. */
import { amountsText } from '../../../domain/kernel/quantity-text.ts';
import { barColumns } from './bar-columns.ts';
import { fullness } from '../../../domain/kernel/quota-fullness.ts';
import { count, left, nameOf, resourceRow, right } from './overview-text.ts';
import type { MissingWorkload } from './pending.ts';
import type { DetailedUsage, NamespaceUsage } from './report.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import type { ResourceUses } from './uses.ts';

/** Of so many limits of each quota it is shown what uses them. */
const FULLEST = 3;
/** Columns of a bar that shows a part of what is used: shorter than one that shows what is used of a limit. */
const SHARE_BAR = 24;

export function namespaceText(
  { cluster, at, namespace, quotas, pending, warnings }: NamespaceUsage,
  terminal: Terminal,
): string {
  const title = (text: string): string => coloured(text, 'bold', terminal);
  if (quotas.length === 0) return `${namespace} in ${cluster} has no ResourceQuota.\n`;
  return [
    `${title(namespace)} in ${cluster} at ${at}`,
    ...quotas.flatMap((quota) => ['', ...quotaLines(quota, terminal)]),
    '',
    title('Pending'),
    ...pendingLines(pending, terminal),
    ...(warnings.length === 0 ? [] : ['', title('Not known')]),
    ...warnings.flatMap((warning) => wrapped(warning, 2, terminal)),
    '',
  ].join('\n');
}

function quotaLines(quota: DetailedUsage, terminal: Terminal): readonly string[] {
  const scopes = quota.scopes.length === 0 ? '' : `  (${quota.scopes.join('; ')})`;
  const heading = `${coloured(nameOf(quota), 'bold', terminal)}${scopes}`;
  if (quota.resources.length === 0) return [heading, '  no limits'];
  const stale = quota.resources.filter(({ enforced }) => enforced !== null);
  return [
    heading,
    ...barColumns(
      quota.resources.map((resource) => resourceRow(resource, [])),
      2,
      terminal,
    ),
    ...stale.flatMap(({ resource, enforced }) =>
      wrapped(
        `${resource}: admission still uses the limit ${enforced}, because the status has not followed the spec`,
        2,
        terminal,
      ),
    ),
    ...usesLines(quota, terminal),
  ];
}

/** The columns of all lists are the same, so that the bars stand below each other. */
function usesLines({ resources, usedBy }: DetailedUsage, terminal: Terminal): readonly string[] {
  const fullest = resources.filter((resource) => fullness(resource) > 0).map(({ resource }) => resource);
  const shown = fullest
    .flatMap((resource) => usedBy.filter((use) => use.resource === resource && saysMore(use)))
    .slice(0, FULLEST);
  const rows = shown.map((uses) => [
    ...uses.top.map(({ workload, amount, objects }) => ({
      cells: [left(objects > 1 ? `${workload} (${objects})` : workload), right(amount)],
      bar: { used: amount, hard: uses.total },
    })),
    ...(uses.others === null
      ? []
      : [
          {
            cells: [left(count(uses.others.workloads, 'other')), right(uses.others.amount)],
            bar: { used: uses.others.amount, hard: uses.total },
          },
        ]),
  ]);
  const lines = barColumns(rows.flat(), 4, terminal, SHARE_BAR);
  let next = 0;
  return shown.flatMap(({ resource }, at) => {
    const own = lines.slice(next, next + (rows[at]?.length ?? 0));
    next += own.length;
    return ['', `  what uses ${resource}`, ...own];
  });
}

/** That all Secrets are secrets is no news. */
function saysMore({ top }: ResourceUses): boolean {
  return top.length > 1 || top.some(({ workload }) => workload.includes('/'));
}

function pendingLines({ workloads, pods }: NamespaceUsage['pending'], terminal: Terminal): readonly string[] {
  if (workloads.length === 0 && pods.count === 0) return ['  nothing'];
  return [
    ...workloads.flatMap((workload) => missingLines(workload, terminal)),
    ...(pods.count === 0 ? [] : [`  ${count(pods.count, 'pod')} ${pods.count === 1 ? 'is' : 'are'} Pending`]),
    ...pods.reasons.flatMap(({ reason, pods, message }) =>
      wrapped(`${pods} ${reason}${message === null ? '' : `: ${message}`}`, 4, terminal),
    ),
  ];
}

function missingLines(workload: MissingWorkload, terminal: Terminal): readonly string[] {
  const { kind, name, missing, resource, needs, deniedAt, next } = workload;
  const what = missing === null ? `was denied ${resource}` : `still needs ${counted(missing, resource)}`;
  const them = missing === 1 ? 'it' : 'them';
  const charged = needs.map(
    ({ quota, amounts }) => `Quota ${quota} would be charged ${amountsText(amounts)} for ${them}.`,
  );
  const answers =
    next === null
      ? []
      : next.allowed
        ? [`The next one fits now. The last denial was at ${deniedAt}.`]
        : next.answers.map(({ message }) => `The next one would be denied: ${message}`);
  return [
    ...wrapped(`${kind}/${name} ${what}. ${charged.join(' ')}`, 2, terminal),
    ...answers.flatMap((answer) => wrapped(answer, 4, terminal)),
  ];
}

const NOUNS: Readonly<Record<string, string>> = {
  pods: 'pod',
  persistentvolumeclaims: 'claim',
  'jobs.batch': 'Job',
  'replicasets.apps': 'ReplicaSet',
};

function counted(amount: number, resource: string): string {
  const noun = NOUNS[resource];
  return noun === undefined ? `${amount} ${resource}` : count(amount, noun);
}
