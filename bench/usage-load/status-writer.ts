/**
 * Who wrote a ResourceQuota's status, read from the object itself, since the control plane's own requests are in no
 * audit log.
 */
import type { ResourceList } from '../../domain/kernel/resource-list.ts';

/** The parts of a ResourceQuota, in the shape of Kubernetes' JSON, that say what its status is and who owns which field. */
export interface WrittenQuota {
  readonly metadata?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly resourceVersion?: string;
    readonly managedFields?: readonly {
      readonly manager?: string;
      readonly fieldsV1?: unknown;
    }[];
  };
  readonly status?: { readonly hard?: ResourceList; readonly used?: ResourceList };
}

/** The numbers of the status that are other ones, or are there or gone. */
function changedNumbers(before: WrittenQuota['status'], after: WrittenQuota['status']): readonly string[] {
  const names = new Set([before?.used, after?.used].flatMap((used) => Object.keys(used ?? {})));
  return [...names].filter((name) => before?.used?.[name] !== after?.used?.[name]);
}

function ownsNumber(fields: unknown, name: string): boolean {
  let at = fields;
  for (const step of ['f:status', 'f:used', `f:${name}`]) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return true;
}

/**
 * The field manager that changed the status between two versions of a quota that follow on each other; null when it is the
 * same status. Whoever changes a number owns its field from then on, and takes it from the others.
 */
export function statusWriter(before: WrittenQuota, after: WrittenQuota): string | null {
  const changed = changedNumbers(before.status, after.status);
  if (changed.length === 0) return null;
  const owner = after.metadata?.managedFields?.find(({ fieldsV1 }) =>
    changed.some((name) => ownsNumber(fieldsV1, name)),
  );
  return owner?.manager ?? 'unknown';
}
