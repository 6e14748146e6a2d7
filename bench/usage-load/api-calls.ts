import type { AuditEvent } from '../../test/kernel/servers/audit-log.ts';

/** How often a user asked the API server for one thing. */
export interface ApiCalls {
  readonly user: string;
  /** get, list, watch, create, update, patch, delete. */
  readonly verb: string;
  /** `resourcequotas/status`; the path of what is no resource. */
  readonly resource: string;
  readonly count: number;
  /** Answers that were not 2xx, by their code: 409 is a lost race, 404 often the answer that was hoped for. */
  readonly others: Readonly<Record<string, number>>;
}

/** Requests that began between two moments (milliseconds since 1970), by user, verb and resource; the most frequent first. */
export function apiCalls(
  events: readonly AuditEvent[],
  { from, to, users }: { readonly from: number; readonly to: number; readonly users: readonly string[] },
): readonly ApiCalls[] {
  const calls = new Map<string, ApiCalls>();
  for (const event of events) {
    const at = Date.parse(event.requestReceivedTimestamp);
    // The audit log has a watch twice, when it begins and when it ends; only the beginning is counted.
    const isRequest = event.verb === 'watch' ? event.stage === 'ResponseStarted' : event.stage === 'ResponseComplete';
    if (!isRequest || at < from || at > to || !users.includes(event.user.username)) continue;
    const user = event.user.username;
    const resource = resourceOf(event);
    const key = `${user} ${event.verb} ${resource}`;
    const existing = calls.get(key) ?? { user, verb: event.verb, resource, count: 0, others: {} };
    const code = event.responseStatus?.code ?? 200;
    const others = code < 300 ? existing.others : { ...existing.others, [code]: (existing.others[code] ?? 0) + 1 };
    calls.set(key, { ...existing, count: existing.count + 1, others });
  }
  return [...calls.values()].toSorted((a, b) => b.count - a.count);
}

function resourceOf({ objectRef, requestURI }: AuditEvent): string {
  if (objectRef?.resource === undefined) return requestURI.split('?')[0] ?? requestURI;
  const group = objectRef.apiGroup === undefined ? '' : `.${objectRef.apiGroup}`;
  const subresource = objectRef.subresource === undefined ? '' : `/${objectRef.subresource}`;
  return `${objectRef.resource}${group}${subresource}`;
}
