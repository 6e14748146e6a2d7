/** What the webhooks answer to the API server: the domain's own reading of a schedule, in the words of AdmissionReview v1. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { readSchedule, scheduleWarnings } from '../../domain/lights-out/schedule/read-schedule.ts';
import type { ScheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

/** As much of an object as the answer depends on; whether it is a schedule is for the domain to say. */
const reviewedObject = z.looseObject({
  metadata: z.looseObject({ name: z.string().optional(), deletionTimestamp: z.string().optional() }).optional(),
  spec: z.unknown().optional(),
});

const admissionReview = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal(KIND),
  request: z.object({
    uid: z.string().min(1),
    operation: z.enum(operations),
    name: z.string().optional(),
    subResource: z.string().optional(),
    object: reviewedObject.nullish(),
    oldObject: reviewedObject.nullish(),
  }),
});

/** What the API server asks. */
export type AdmissionRequest = z.output<typeof admissionReview>['request'];

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  readonly warnings?: readonly string[];
  readonly patchType?: 'JSONPatch';
  /** In base64. */
  readonly patch?: string;
}

/** Another schedule of the cluster. */
export interface NamedSchedule {
  readonly name: string;
  readonly spec: ScheduleSpec;
}

/** What a schedule is evaluated beside. */
export interface ReviewContext {
  /** All schedules of the cluster; the one that is asked about may be among them. */
  readonly others: readonly NamedSchedule[];
  /** Never touched by any schedule. */
  readonly protectedNamespaces: readonly string[];
  readonly now: EpochMs;
}

/** The body is no AdmissionReview v1; the message says what is missing. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview';
}

/** @throws {MalformedReview} */
export function readReview(body: unknown): AdmissionRequest {
  const { success, data, error } = admissionReview.safeParse(body);
  if (success) return data.request;
  const [issue] = error.issues;
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new MalformedReview(`expected an ${KIND} of ${API_VERSION}${where}: ${issue?.message ?? 'it is none'}`);
}

/** The answer as the API server wants it. */
export function reviewOf(response: AdmissionResponse): object {
  return { apiVersion: API_VERSION, kind: KIND, response };
}

/** Sets the time zone where a schedule names none, and changes nothing else. */
export function reviewDefaults(request: AdmissionRequest): AdmissionResponse {
  const { uid } = request;
  const changed = changedSpec(request);
  if (!isRecord(changed)) return { uid, allowed: true };
  const { timezone } = changed;
  if (timezone !== undefined && timezone !== null && timezone !== '') return { uid, allowed: true };
  const patch = [{ op: 'add', path: '/spec/timezone', value: 'UTC' }];
  return {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
}

/** Refuses a schedule that says something impossible, with all that is wrong with it, and warns of what is only unwise. */
export function reviewSchedule(
  request: AdmissionRequest,
  { others, protectedNamespaces, now }: ReviewContext,
): AdmissionResponse {
  const { uid, object } = request;
  if (changedSpec(request) === undefined) return { uid, allowed: true };
  const { spec, problems } = readSchedule(object);
  if (spec === null || problems.length > 0) {
    const message = problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    return { uid, allowed: false, status: { code: 422, reason: 'Invalid', message } };
  }
  const name = scheduleName(request);
  const besides = others.filter((other) => other.name !== name);
  const warnings = scheduleWarnings(spec, besides, { now, protectedNamespaces }).map(warningLine);
  return { uid, allowed: true, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** The name of the schedule that is asked about; empty where the API server has yet to make one up. */
export function scheduleName({ name, object }: AdmissionRequest): string {
  return name || (object?.metadata?.name ?? '');
}

/**
 * The new spec, where it is somebody's to answer for. Undefined for an object that is going, and for an update of
 * something else: a finalizer comes off a schedule that was let in while nobody looked.
 */
function changedSpec({ operation, subResource, object, oldObject }: AdmissionRequest): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined;
  if (subResource) return undefined;
  if (!object || object.metadata?.deletionTimestamp !== undefined) return undefined;
  if (operation === 'UPDATE' && oldObject && isDeepStrictEqual(object.spec, oldObject.spec)) return undefined;
  return object.spec ?? null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The API server cuts a warning after so many characters. */
const MAX_WARNING = 256;

/** A header has one line. */
function warningLine(warning: string): string {
  const characters = Array.from(warning.replace(/\s+/g, ' ').trim());
  if (characters.length <= MAX_WARNING) return characters.join('');
  return `${characters.slice(0, MAX_WARNING - 1).join('')}…`;
}
