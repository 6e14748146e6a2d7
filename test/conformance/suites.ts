/** Which adapter answers which case: by the file that it is in, because two files may use one word for two things. */
import type { Adapter } from './adapter.ts';
import { eventMessage } from './kinds/event.ts';
import { quantityKinds } from './kinds/quantity.ts';
import { quotaKinds } from './kinds/quota.ts';
import { leaseKinds } from './kinds/lease.ts';
import { pullRequestKinds } from './kinds/pull-request.ts';
import { thresholdEngineKinds } from './kinds/threshold-engine.ts';

/** The kind of an entry that names none. */
export const UNNAMED_KIND = 'message';

interface Suite {
  /** The file names, without `.json`, that belong to it. */
  readonly files: RegExp;
  readonly kinds: Readonly<Record<string, Adapter>>;
}

const suites: readonly Suite[] = [
  { files: /^quantity/, kinds: quantityKinds },
  { files: /^event/, kinds: { [UNNAMED_KIND]: eventMessage } },
  { files: /^quota-resize/, kinds: { ...thresholdEngineKinds, ...pullRequestKinds, ...leaseKinds } },
  { files: /^quota/, kinds: quotaKinds },
];

/** The adapter of a kind in a file (`quota-resize-peer`), or undefined when nobody answers for it yet. */
export function adapterFor(file: string, kind: string): Adapter | undefined {
  const kinds = suites.find((suite) => suite.files.test(file))?.kinds ?? {};
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}
