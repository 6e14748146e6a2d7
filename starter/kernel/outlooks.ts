import { isDeepStrictEqual } from 'node:util';
import type { Outlook } from '../../domain/kernel/outlook.ts';

type Reduce = (template: unknown) => unknown;
/** @param outlook null where nothing is foreseen any more. */
type Listener = (key: string, outlook: Outlook | null) => void;

/** Passes what is foreseen for workloads from the controller that scales them to the one that keeps nodes for them. */
export class Outlooks {
  #all: ReadonlyMap<string, Outlook> = new Map();
  #asking: { readonly reduce: Reduce; readonly listener: Listener } | null = null;

  /** Whether anybody asks: otherwise nothing has to be foreseen. */
  get isAsked(): boolean {
    return this.#asking !== null;
  }

  /**
   * Asks for what is foreseen, and for every change of it.
   *
   * @param reduce keeps of the template of a pod what is needed: there may be thousands of them.
   */
  ask(reduce: Reduce, listener: Listener): void {
    this.#asking = { reduce, listener };
  }

  reduced(template: unknown): unknown {
    return this.#asking?.reduce(template) ?? null;
  }

  /** What is foreseen now, by `<kind> <namespace>/<name>`. */
  publish(outlooks: readonly Outlook[]): void {
    const before = this.#all;
    const all = new Map(outlooks.map((outlook) => [keyOf(outlook), outlook]));
    this.#all = all;
    for (const key of before.keys()) if (!all.has(key)) this.#asking?.listener(key, null);
    for (const [key, outlook] of all) {
      if (!isDeepStrictEqual(before.get(key), outlook)) this.#asking?.listener(key, outlook);
    }
  }

  all(): readonly (readonly [key: string, outlook: Outlook])[] {
    return [...this.#all];
  }
}

function keyOf({ workload: { kind, namespace, name } }: Outlook): string {
  return `${kind} ${namespace}/${name}`;
}
