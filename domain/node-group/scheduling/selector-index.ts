/**
 * Finds which selectors and pods can meet without asking each of them: by the namespace, and by one label that the selector requires.
 * What is found that way still has to be asked whether it matches.
 */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type { Labels } from '../model/pod.ts';

/** Which pods a selector could match. */
export interface Scope {
  /** Null for those of any namespace. */
  readonly namespaces: readonly string[] | null;
  /** Labels of which each of them has one; null where none is required. */
  readonly labels: readonly string[] | null;
}

/** Something by scopes, to be found by pods; or pods, to be found by scopes. */
export class SelectorIndex<T> {
  readonly #at = new Map<string, T[]>();

  add(places: readonly string[], value: T): void {
    for (const place of places) {
      const list = this.#at.get(place);
      if (list === undefined) this.#at.set(place, [value]);
      else list.push(value);
    }
  }

  /** Each once, as scopes and pods share one place at most. */
  at(places: readonly string[]): readonly T[] {
    return places.flatMap((place) => this.#at.get(place) ?? []);
  }
}

/** The text of a label in a scope. */
function labelText(key: string, value: string): string {
  return `${key}=${value}`;
}

function placeOf(namespace: string | null, label: string | null): string {
  return `${namespace === null ? '*' : `/${namespace}`} ${label ?? ''}`;
}

/** Where what has the scope is found, or pods of it are. */
export function placesOfScope({ namespaces, labels }: Scope): readonly string[] {
  const all = labels === null ? [null] : [...new Set(labels)];
  return (namespaces === null ? [null] : [...new Set(namespaces)]).flatMap((namespace) =>
    all.map((label) => placeOf(namespace, label)),
  );
}

/** Where the pods are found, or what has a scope that takes them in is. */
export function placesOfPods(namespace: string, labels: Labels): readonly string[] {
  const all = [null, ...Object.entries(labels).map(([key, value]) => labelText(key, value))];
  return all.flatMap((label) => [placeOf(null, label), placeOf(namespace, label)]);
}

/** The labels that a selector requires: of each of the lists a pod has one. */
export function requiredLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector): readonly string[][] {
  const one = Object.entries(matchLabels).map(([key, value]) => [labelText(key, value)]);
  const some = matchExpressions.flatMap(({ key, operator, values = [] }) =>
    operator === 'In' ? [values.map((value) => labelText(key, value))] : [],
  );
  return [...one, ...some];
}
