/** A location in Git as a decision stores it: found once, verified before each use. */
import type { ResourceList } from '../../../../kernel/resource-list.ts';
import type { Placement, ValuePlacement } from '../../../model/placement.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';
import { formatField } from '../../yaml/field-path.ts';
import { keyOf } from './value-keys.ts';
import type { QuotaLocation } from './location.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';

/** The part of a found location that is stored. */
export function placementOf(
  location: QuotaLocation,
  resources: readonly string[],
  found: Pick<Placement, 'candidate' | 'tried' | 'branchBy'>,
): Placement {
  const values = resources.flatMap((resource) => {
    const value = valueOf(location, resource, resources);
    return value === null ? [] : [[resource, value] as const];
  });
  const { notProved } = location;
  const { candidate, tried, branchBy } = found;
  return {
    candidate,
    tried,
    values: Object.fromEntries(values),
    ...(notProved === undefined ? {} : { notProved }),
    ...(branchBy === undefined ? {} : { branchBy }),
  };
}

/** Whether the candidate that led to the location is still the same and no new candidate comes before it. */
export function isLedBy({ candidate, tried }: Placement, candidates: readonly SourceCandidate[]): boolean {
  const now = candidates[tried];
  return now !== undefined && inOneOrder(now) === inOneOrder(candidate);
}

/** Compares independently of the order of fields, because the Lease returns them in another order. */
function inOneOrder(candidate: SourceCandidate): string {
  return JSON.stringify(Object.entries(candidate).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether the location found now is the stored one: every stored value is raised in the same field. */
export function isSameLocation(recorded: Placement, location: QuotaLocation, resources: readonly string[]): boolean {
  const existing = resources.filter((resource) => Object.hasOwn(recorded.values, resource));
  return (
    existing.length > 0 &&
    existing.every((resource) => {
      const now = valueOf(location, resource, resources);
      const then = recorded.values[resource];
      return now !== null && now.path === then?.path && now.field === then.field;
    })
  );
}

/** The values when the location was found: they identify one of several mappings in a values file. */
export function textsOf({ values }: Placement): ResourceList {
  return Object.fromEntries(Object.entries(values).map(([resource, { text }]) => [resource, text]));
}

function valueOf(location: QuotaLocation, resource: string, resources: readonly string[]): ValuePlacement | null {
  const key = keyOf(location, resource, resources);
  const value = key === undefined ? undefined : location.values[key];
  const edit = key === undefined ? undefined : location.edits[key];
  if (value === undefined || edit === undefined) return null;
  return { ...fieldOf(edit, value.path), text: value.text };
}

function fieldOf(edit: ValueEdit, path: string): Omit<ValuePlacement, 'text'> {
  switch (edit.kind) {
    case 'replace':
      return { path: edit.at.path, field: fieldOfDocument(edit) };
    case 'add':
      return { path: edit.at.path, field: `${fieldOfDocument(edit)} ${edit.key}` };
    case 'patch':
      return { path: edit.at.path, field: `a patch of ${edit.name}` };
    case 'line':
      return { path: edit.path, field: `line ${edit.line}` };
    case 'none':
      return { path, field: '' };
  }
}

function fieldOfDocument({ at, pointer }: Extract<ValueEdit, { kind: 'replace' | 'add' }>): string {
  const inline = at.inline === undefined ? '' : `${formatField(at.inline.pointer)} `;
  return `${inline}${formatField(pointer)}`;
}
