/**
 * Reads denials of the quota admission plugin from the text of an Event or an API error. The known texts are those of
 * Kubernetes' resourcequota admission plugin and of the controllers that pass them on.
 */
import { isQuantity, parseQuantity } from '../../kernel/quantity.ts';
import { type ResourceList, resourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';

/** The object that was denied, as far as the message names it. */
interface Denied {
  /** Whether the message summarizes several similar ones; it quotes the latest. */
  readonly combined: boolean;
  /** The resource that was to be created: "pods", "persistentvolumeclaims". */
  readonly resource?: string;
  /** Its API group, absent for the core group. */
  readonly group?: string;
  /** The name of the object; it ends in "-" if the API server had not generated the rest of the name yet. */
  readonly object?: string;
  readonly statefulSet?: string;
  /** The pod of a StatefulSet that was to be created, itself or a claim for it. */
  readonly pod?: string;
  /** The claim of a StatefulSet that was to be created. */
  readonly claim?: string;
  /** The ReplicaSet that a Deployment was to create. */
  readonly replicaSet?: string;
}

/** A denied creation, by its cause. Only `exceededQuota` is a lack of room. */
export type AdmissionDenial = Denied &
  (
    | {
        readonly class: 'exceededQuota';
        readonly quota: string;
        /** What one object requested; only the exceeded resources. */
        readonly requested: ResourceList;
        /** May already be above `limited`. */
        readonly used: ResourceList;
        readonly limited: ResourceList;
      }
    /** The quota requires values that the object does not specify: "must specify cpu for: a,b". */
    | { readonly class: 'failedQuota'; readonly quota: string; readonly raw: string }
    /** The quota controller has not counted these resources yet; older API servers do not list them. */
    | { readonly class: 'statusUnknown'; readonly quota: string; readonly resources?: readonly string[] }
    /** A limited resource that no quota of the namespace covers. */
    | { readonly class: 'insufficientQuota'; readonly resources: readonly string[]; readonly raw: string }
    /** A limited scope that no quota of the namespace covers: "[{PriorityClass In [high]}]". */
    | { readonly class: 'uncoveredScopes'; readonly raw: string }
    | { readonly class: 'notQuota' }
  );

const COMBINED = '(combined from similar events): ';
const STATEFUL_SET_CLAIM = /^(?:create|update) Claim (\S+) for Pod (\S+) in StatefulSet (\S+) failed error: /i;
const STATEFUL_SET_POD = /^(?:create|update|delete) Pod (\S+) in StatefulSet (\S+) failed error: /i;
const REPLICA_SET = /^Failed to create new replica set "([^"]*)": /;
const CREATING = /^Error creating(?: job)?: /;
const FORBIDDEN = /(?:^|\s)([a-z][a-z0-9]*)((?:\.[a-z0-9-]+)*)(?: "([^"]*)")? is forbidden: /;

/** Splits off the text that a controller put in front of the denial, and returns what it names and the rest. */
function unwrap(message: string): readonly [Partial<Denied>, string] {
  const claim = STATEFUL_SET_CLAIM.exec(message);
  if (claim !== null) {
    const [words, name = '', pod = '', statefulSet = ''] = claim;
    return [{ claim: name, pod, statefulSet }, message.slice(words.length)];
  }
  const member = STATEFUL_SET_POD.exec(message);
  if (member !== null) {
    const [words, pod = '', statefulSet = ''] = member;
    return [{ pod, statefulSet }, message.slice(words.length)];
  }
  const replicaSet = REPLICA_SET.exec(message);
  if (replicaSet !== null) {
    const [words, name = ''] = replicaSet;
    return [{ replicaSet: name }, message.slice(words.length)];
  }
  return [{}, message.replace(CREATING, '')];
}

/** The text after a prefix; undefined when the text does not begin with it. */
function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** The parts of the text between the separators, in order; undefined when a separator is missing. */
function splitAt(text: string, separators: readonly string[]): readonly string[] | undefined {
  const parts: string[] = [];
  let rest = text;
  for (const separator of separators) {
    const at = rest.indexOf(separator);
    if (at < 0) {
      return undefined;
    }
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + separator.length);
  }
  return [...parts, rest];
}

/** Parses `limits.cpu=2,limits.memory=1Gi`; undefined when a part is not `name=quantity`. */
function parseAmounts(text: string): ResourceList | undefined {
  const entries = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, at), part.slice(at + 1), at] as const;
  });
  if (!entries.every(([name, amount, at]) => at > 0 && name !== '__proto__' && isQuantity(amount))) {
    return undefined;
  }
  return resourceList(entries.map(([name, amount]) => [name, parseQuantity(amount)]));
}

/** A denial without the object that was denied. */
type Reason = AdmissionDenial extends infer R ? (R extends unknown ? Omit<R, keyof Denied> : never) : never;

const NOT_QUOTA = { class: 'notQuota' } as const;

function parseExceeded(text: string): Reason {
  const [quota = '', ...amounts] = splitAt(text, [', requested: ', ', used: ', ', limited: ']) ?? [];
  const [requested, used, limited] = amounts.map(parseAmounts);
  if (quota === '' || requested === undefined || used === undefined || limited === undefined) {
    return NOT_QUOTA;
  }
  return { class: 'exceededQuota', quota, requested, used, limited };
}

function parseReason(text: string): Reason {
  const exceeded = after(text, 'exceeded quota: ');
  if (exceeded !== undefined) {
    return parseExceeded(exceeded);
  }
  const failed = splitAt(after(text, 'failed quota: ') ?? '', [': ']);
  if (failed !== undefined) {
    const [quota = '', raw = ''] = failed;
    return { class: 'failedQuota', quota, raw };
  }
  const unknown = after(text, 'status unknown for quota: ');
  if (unknown !== undefined) {
    const [quota = unknown, resources] = splitAt(unknown, [', resources: ']) ?? [];
    return { class: 'statusUnknown', quota, ...(resources === undefined ? {} : { resources: resources.split(',') }) };
  }
  const uncovered = after(text, 'insufficient quota to consume: ');
  if (uncovered !== undefined) {
    return { class: 'insufficientQuota', resources: uncovered.split(','), raw: uncovered };
  }
  const raw = after(text, 'insufficient quota to match these scopes: ');
  return raw === undefined ? NOT_QUOTA : { class: 'uncoveredScopes', raw };
}

/**
 * Reads the message of a FailedCreate (or similar) Event. Texts that are no denial by a quota, or that cannot be fully
 * parsed, give `notQuota`.
 */
export function parseAdmissionMessage(message: string): AdmissionDenial {
  const combined = message.startsWith(COMBINED);
  const [wrapper, words] = unwrap(combined ? message.slice(COMBINED.length) : message);
  const forbidden = FORBIDDEN.exec(words);
  if (forbidden === null) {
    return { combined, ...wrapper, ...parseReason(words) };
  }
  const [match, resource = '', group = '', object] = forbidden;
  const denied: Denied = {
    combined,
    ...wrapper,
    resource,
    ...(group === '' ? {} : { group: group.slice(1) }),
    ...(object === undefined ? {} : { object }),
  };
  return { ...denied, ...parseReason(words.slice(forbidden.index + match.length)) };
}

type Instant = Date | string | null | undefined;

/** The times of an Event, of either Events API. Clients return instants as text or as Date. */
export interface EventOccurrence {
  readonly series?: { readonly lastObservedTime?: Instant } | null | undefined;
  readonly lastTimestamp?: Instant;
  readonly eventTime?: Instant;
  readonly firstTimestamp?: Instant;
  readonly metadata?: { readonly creationTimestamp?: Instant } | undefined;
}

/** When the Event was last seen: the first time field that is set, in Kubernetes' order; null if none is. */
export function eventLastSeen(event: EventOccurrence): EpochMs | null {
  const instants = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.firstTimestamp,
    event.metadata?.creationTimestamp,
  ];
  const times = instants.map((instant) => (instant ? new Date(instant).getTime() : Number.NaN));
  return times.find((time) => !Number.isNaN(time)) ?? null;
}

/**
 * The reasons of Events that report a failed creation; the second one is a Deployment's. A field selector has no OR, so
 * each reason needs its own request.
 */
export const denialReasons = ['FailedCreate', 'ReplicaSetCreateError'] as const;

/**
 * Events per page of a list: whoever writes one can give it annotations of 256 KiB and a message of a megabyte, and a page
 * is held as it came.
 */
export const EVENTS_A_PAGE = 25;

/** Kubernetes' own denials have some hundred characters for each limit of a quota. */
const MAX_MESSAGE = 8 * 1024;

/** The message of an Event, if it may be a denial by a quota; null otherwise. */
export function denialMessage(message = ''): string | null {
  // Not cut: an amount would lose its last digits.
  if (message.length > MAX_MESSAGE) return null;
  return parseAdmissionMessage(message).class === 'exceededQuota' ? message : null;
}
