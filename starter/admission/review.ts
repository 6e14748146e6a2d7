/** AdmissionReview v1: how a request of the API server is read, and how it is answered. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { oneLine, visibleText } from '../../domain/kernel/sentence.ts';

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

/** The fields that every review needs; the domain checks the rest. */
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

/** The object is stored as it is. */
export function allowed({ uid }: AdmissionRequest, warnings: readonly string[] = []): AdmissionResponse {
  return { uid, allowed: true, ...shown(warnings) };
}

/** The API server passes warnings on to whoever sent the request, with a refusal as well. */
function shown(warnings: readonly string[]): Pick<AdmissionResponse, 'warnings'> {
  return warnings.length === 0 ? {} : { warnings: warnings.map(warningLine) };
}

/** The object is stored with these changes, as operations of a JSON patch. */
export function patched({ uid }: AdmissionRequest, patch: readonly object[]): AdmissionResponse {
  return {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
}

/** The object is not stored: it is invalid, as the message says. */
export function denied(
  { uid }: AdmissionRequest,
  message: string,
  warnings: readonly string[] = [],
): AdmissionResponse {
  return {
    uid,
    allowed: false,
    status: { code: 422, reason: 'Invalid', message: visibleText(message) },
    ...shown(warnings),
  };
}

/** The name of the object that is reviewed; empty where the API server has yet to make one up. */
export function objectName({ name, object }: AdmissionRequest): string {
  return name || (object?.metadata?.name ?? '');
}

/**
 * The new spec if it has to be validated. Undefined for an object that is being deleted and for an update of anything
 * else, so that a finalizer can be removed from an invalid object that was admitted without a webhook.
 */
export function changedSpec({ operation, subResource, object, oldObject }: AdmissionRequest): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined;
  if (subResource) return undefined;
  if (!object || object.metadata?.deletionTimestamp !== undefined) return undefined;
  if (operation === 'UPDATE' && oldObject && isDeepStrictEqual(object.spec, oldObject.spec)) return undefined;
  return object.spec ?? null;
}

/** The API server cuts a warning after so many characters. */
const MAX_WARNING = 256;

/** A header has one line. */
function warningLine(warning: string): string {
  const characters = Array.from(oneLine(warning));
  if (characters.length <= MAX_WARNING) return characters.join('');
  return `${characters.slice(0, MAX_WARNING - 1).join('')}…`;
}
