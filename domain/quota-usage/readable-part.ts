/**
 * What can be charged of an object that has an amount which cannot be read, such as a memory request of 1e1002: everything
 * but that amount. Kubernetes accepts exponents for which an exact number would take minutes and gigabytes.
 */
import { isQuantity } from '../kernel/quantity.ts';

/** An amount that cannot be read, by the list that has it and the resource. */
export interface UnreadableAmount {
  readonly list: 'requests' | 'limits' | 'overhead' | 'allocatedResources';
  readonly resource: string;
  /** As it is written in the object. */
  readonly text: string;
}

/** An object in the shape of Kubernetes' JSON. */
interface WithAmounts {
  readonly spec?: unknown;
  readonly status?: unknown;
}

interface ReadablePart<Counted extends WithAmounts> {
  /** The object without these amounts. */
  readonly object: Counted;
  readonly unreadable: readonly UnreadableAmount[];
}

const LISTS = ['requests', 'limits', 'overhead', 'allocatedResources'] as const;

/** The object without its unreadable amounts, wherever its spec and status have lists of amounts. */
export function readablePart<Counted extends WithAmounts>(object: Counted): ReadablePart<Counted> {
  const unreadable: UnreadableAmount[] = [];
  const readableIn = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((item: unknown) => readableIn(item, ''));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const list = LISTS.find((name) => name === field);
    const entries = Object.entries(value).filter(([resource, text]) => {
      if (list === undefined || typeof text !== 'string' || isQuantity(text)) return true;
      unreadable.push({ list, resource, text: text });
      return false;
    });
    return Object.fromEntries(entries.map(([name, inner]) => [name, readableIn(inner, name)]));
  };
  return {
    object: { ...object, spec: readableIn(object.spec, 'spec'), status: readableIn(object.status, 'status') },
    unreadable,
  };
}
