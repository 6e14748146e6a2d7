/** The admission webhooks of Memcacheds: defaults and rules of the first implementation, with its paths and messages. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../domain/kernel/record.ts';
import { withDefaults } from '../../domain/memcached/api/defaults.ts';
import { GROUP, KIND } from '../../domain/memcached/api/names.ts';
import { ownProblems } from '../../domain/memcached/api/own-rules.ts';
import { specProblems } from '../../domain/memcached/api/validation.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  changedSpec,
  denied,
  objectName,
  patched,
} from '../admission/review.ts';
import type { AdmissionWebhooks } from '../admission/webhooks.ts';
import type { Config } from '../config.ts';
import { admissionWarnings } from './warnings.ts';

/** The webhooks, where the configuration has an address for them. */
export function memcachedAdmission({ memcached }: Config): AdmissionWebhooks | undefined {
  const { webhookAddress: address, webhookCertificate: certificateFolder, webhookHost: host } = memcached;
  if (address === undefined) return undefined;
  return {
    name: 'headroom-memcached',
    kind: KIND,
    reviews: { '/mutate': reviewDefaults, '/validate': reviewMemcached },
    address,
    certificateFolder,
    host,
  };
}

/** Fills in what is not said. */
function reviewDefaults(request: AdmissionRequest): AdmissionResponse {
  const changed = changedSpec(request);
  if (changed === undefined) return allowed(request);
  const value = withDefaults(changed);
  return isDeepStrictEqual(value, changed) ? allowed(request) : patched(request, [{ op: 'add', path: '/spec', value }]);
}

/** Denies what contradicts itself, in the words of the API server. Its types were checked before a webhook is asked. */
function reviewMemcached(request: AdmissionRequest): AdmissionResponse {
  const changed = changedSpec(request);
  if (changed === undefined) return allowed(request);
  const spec = isRecord(changed) ? changed : {};
  const old = request.oldObject?.spec;
  const problems = [...specProblems(spec), ...ownProblems(spec, isRecord(old) ? old : undefined)];
  const warnings = admissionWarnings(spec);
  if (problems.length === 0) return allowed(request, warnings);
  const list = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
  return denied(request, `${KIND}.${GROUP} ${JSON.stringify(objectName(request))} is invalid: ${list}`, warnings);
}
