/** Reads a Memcached of a cluster: with its defaults, and with what is wrong with it. */
import { isRecord } from '../../kernel/record.ts';
import type { z } from 'zod';
import { withDefaults } from './defaults.ts';
import { type Memcached, memcachedSpec, type MemcachedSpec } from './memcached.ts';
import { fewProblems } from './few-problems.ts';
import { nameProblems } from './name-problems.ts';
import { ownProblems } from './own-rules.ts';
import { blockingProblems } from './validation.ts';

/** What of an object is read whatever its spec says. */
interface MemcachedIdentity extends Omit<Memcached, 'spec'> {
  readonly isDeleting: boolean;
}

export interface ReadMemcached extends MemcachedIdentity {
  /** Null when there are problems: nothing is written then. */
  readonly spec: MemcachedSpec | null;
  readonly problems: readonly string[];
  /** As it is, with fields of others. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** Reads a complete object, any part of which may be missing. Defaults are filled in, in case no webhook did. Never throws. */
export function readMemcached(object: unknown): ReadMemcached {
  const whole = isRecord(object) ? object : {};
  const metadata = isRecord(whole['metadata']) ? whole['metadata'] : {};
  const text = (key: string): string => (typeof metadata[key] === 'string' ? metadata[key] : '');
  const annotations = isRecord(metadata['annotations']) ? metadata['annotations'] : {};
  const written = withDefaults(whole['spec']);
  const { data, error } = memcachedSpec.safeParse(written);
  const problems = [
    ...nameProblems(text('name')),
    ...(error === undefined
      ? [...blockingProblems(written), ...ownProblems(written)]
      : fewProblems(error.issues.map(problemOf))),
  ];
  return {
    name: text('name'),
    namespace: text('namespace'),
    uid: text('uid'),
    generation: typeof metadata['generation'] === 'number' ? metadata['generation'] : 0,
    annotations: Object.fromEntries(
      Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    isDeleting: metadata['deletionTimestamp'] !== undefined,
    spec: problems.length === 0 && data !== undefined ? data : null,
    problems,
    status: isRecord(whole['status']) ? whole['status'] : {},
  };
}

function problemOf({ path, message }: z.core.$ZodIssue): string {
  const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `spec${field}: Invalid value: ${message}`;
}
