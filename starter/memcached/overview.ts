/** What the overview shows of caches. */
import { conditionIn } from '../../domain/kernel/condition.ts';
import { listText, sentence } from '../../domain/kernel/sentence.ts';
import type { ReadMemcached } from '../../domain/memcached/api/read-memcached.ts';
import type { Instance } from '../../domain/memcached/status/instance.ts';
import { memcachedId, memcachedName } from '../../domain/memcached/target.ts';
import type { Overview, OverviewCell, OverviewRow, Waiting } from '../overview/part.ts';

/** An instance with the object that it is counted from. */
export interface SeenMemcached {
  readonly read: ReadMemcached;
  readonly instance: Instance;
}

/** @param memcacheds of a namespace, or all. */
export function memcachedOverview(
  cluster: string,
  memcacheds: (namespace?: string) => readonly SeenMemcached[],
): Overview {
  return ({ namespace }) => {
    const shown = memcacheds(namespace ?? undefined)
      .map((seen) => ({ ...seen, name: memcachedName(seen.read), trouble: troubleOf(seen) }))
      .toSorted((a, b) => Number(b.trouble !== null) - Number(a.trouble !== null) || (a.name < b.name ? -1 : 1));
    const failing = shown.filter(({ trouble }) => trouble !== null).length;
    const workflowOf = ({ read: { namespace, name } }: SeenMemcached): string =>
      memcachedId({ cluster, namespace, name });
    return {
      waiting: shown.flatMap((seen) => waitingOf(seen, workflowOf(seen))),
      tables: [
        {
          id: 'caches',
          title: 'Caches',
          columns: ['Memcached', 'Ready', 'Image', 'State'],
          empty: namespace === null ? 'There is no Memcached.' : `There is no Memcached in ${namespace}.`,
          summary: failing === 0 ? 'All are as specified.' : `${failing} of ${shown.length} are not as specified.`,
          total: shown.length,
          rows: (from, to) =>
            shown.slice(from, to).map(
              (seen): OverviewRow => ({
                cells: [
                  { text: seen.name },
                  readyCell(seen.instance),
                  { text: seen.instance.image ?? '' },
                  seen.trouble === null
                    ? { text: 'as specified', ...notesOf(seen.read) }
                    : { text: seen.trouble.reason, tone: 'bad', detail: seen.trouble.message },
                ],
                links: [],
                workflow: seen.trouble === null ? null : workflowOf(seen),
                command: `kubectl headroom memcached status ${seen.name}`,
              }),
            ),
        },
      ],
    };
  };
}

interface Trouble {
  readonly reason: string;
  readonly message: string;
  readonly since: number | null;
  /** Whether only a person can end it. */
  readonly isForPeople: boolean;
}

function troubleOf({ read }: SeenMemcached): Trouble | null {
  if (read.problems.length > 0) {
    return { reason: 'invalid', message: listText(read.problems, 2), since: null, isForPeople: true };
  }
  const degraded = conditionIn(read.status, 'Degraded');
  const ready = conditionIn(read.status, 'Ready');
  const [found] = [degraded?.status === 'True' ? degraded : null, ready?.status === 'False' ? ready : null].filter(
    (condition) => condition !== null,
  );
  if (found === undefined) return null;
  const { reason, message } = found;
  return { reason, message, since: found.since, isForPeople: false };
}

function readyCell({ ready, desired }: Instance): OverviewCell {
  return { text: desired === null ? String(ready) : `${ready} of ${desired}` };
}

function notesOf({ status: { notes } }: ReadMemcached): Partial<OverviewCell> {
  const texts = Array.isArray(notes) ? notes.map((note) => sentence(String(note))) : [];
  return texts.length === 0 ? {} : { detail: texts.join(' ') };
}

function waitingOf(
  { name, trouble }: { readonly name: string; readonly trouble: Trouble | null },
  workflow: string,
): readonly Waiting[] {
  if (trouble === null) return [];
  return [
    {
      what: `cache ${name}`,
      whom: trouble.isForPeople ? 'a person' : 'its pods',
      isForPeople: trouble.isForPeople,
      since: trouble.since,
      why: sentence(trouble.message),
      links: [],
      workflow,
      command: `kubectl headroom memcached status ${name}`,
    },
  ];
}
