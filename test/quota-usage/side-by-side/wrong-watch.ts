/** How long two clusters have said different things while operations go on, and which of them was the late one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Difference, Statuses } from './compare.ts';

const CHECK_EVERY_MS = 1_000;

/** The longest time for which one number was another one in both clusters. */
interface Longest {
  readonly ms: number;
  readonly what: string;
}

/** By the cluster that was late: the one whose number changed when both said the same again. */
export interface LongestWrong {
  readonly first: Longest;
  /** Also what nobody can tell, because both changed, or because it was not over in the end. */
  readonly second: Longest;
}

/** What both say now, and what of it is different. */
interface Look {
  readonly differences: readonly Difference[];
  readonly statuses: readonly [first: Statuses, second: Statuses];
}

interface Open {
  readonly since: number;
  /** At the last look. */
  readonly says: Difference['says'];
}

/**
 * Looks until it is stopped. A look that fails, because an API server is being restarted, tells nothing: a difference goes on
 * for as long as no look has found it gone.
 */
export function watchWrong(look: () => Promise<Look>): { readonly stop: () => Promise<LongestWrong> } {
  const over = new AbortController();
  const wrong = new WrongTimes();
  const watching = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const seen = await look().catch(() => null);
      if (seen !== null) wrong.add(seen, Date.now());
      await sleep(CHECK_EVERY_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const watched = watching();
  return {
    stop: async () => {
      over.abort();
      await watched;
      return wrong.longest(Date.now());
    },
  };
}

/** Adds up looks. */
export class WrongTimes {
  readonly #open = new Map<string, Open>();
  #first: Longest = { ms: 0, what: 'nothing' };
  #second: Longest = { ms: 0, what: 'nothing' };

  add({ differences, statuses }: Look, now: number): void {
    const different = new Map(differences.map(({ what, says }) => [what, says]));
    for (const [what, { since, says }] of this.#open) {
      if (different.has(what)) continue;
      this.#open.delete(what);
      this.#ended(what, now - since, says, statuses);
    }
    for (const [what, says] of different) this.#open.set(what, { since: this.#open.get(what)?.since ?? now, says });
  }

  longest(now: number): LongestWrong {
    for (const [what, { since }] of this.#open) this.#second = longer(this.#second, { ms: now - since, what });
    return { first: this.#first, second: this.#second };
  }

  #ended(what: string, ms: number, says: Difference['says'], [first, second]: Look['statuses']): void {
    const hasMoved = [first, second].map((statuses, side) => saidOf(statuses, what) !== says[side]);
    const isFirst = hasMoved[0] === true && hasMoved[1] === false;
    if (isFirst) this.#first = longer(this.#first, { ms, what });
    else this.#second = longer(this.#second, { ms, what });
  }
}

/** What a cluster says of that which was different. */
function saidOf(statuses: Statuses, what: string): string | null {
  const [quota = '', field] = what.split(': ');
  const numbers = statuses.get(quota);
  if (numbers === undefined) return null;
  if (field === undefined) return 'it';
  const [part, resource = ''] = field.split(' ');
  return (part === 'hard' ? numbers.hard : numbers.used)[resource] ?? 'nothing';
}

function longer(a: Longest, b: Longest): Longest {
  return b.ms > a.ms ? b : a;
}
