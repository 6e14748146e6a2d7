/** Whether the clock of this machine agrees with those of the servers. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { VersionApi } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { ClosableKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { Findings } from './finding.ts';

/** Milliseconds. HTTP tells whole seconds, and an answer takes its time. */
const UNSEEN_MS = 3_000;
/** Leases are taken over, and tokens of an App refused, within less than a minute. */
const WRONG_MS = 30_000;
const REQUEST_MS = 10_000;
const MEND = 'Let this machine and the nodes get their time by NTP (chronyc tracking, timedatectl).';

export async function lookAtKubernetesClock(kubeConfig: ClosableKubeConfig, findings: Findings): Promise<void> {
  const asked = Date.now();
  const { headers } = await kubeConfig.makeApiClient(VersionApi).getCodeWithHttpInfo();
  compare('the API server', headers['date'], asked, findings);
}

/** Without a credential: the time is in every answer, also in a refusal. */
export async function lookAtGitHubClock(apiUrl: string, findings: Findings): Promise<void> {
  const asked = Date.now();
  const response = await fetch(apiUrl, { signal: AbortSignal.timeout(REQUEST_MS) });
  await response.body?.cancel();
  compare('GitHub', response.headers.get('date') ?? undefined, asked, findings);
}

/** Milliseconds. Temporal refuses a poll that would end within two seconds; this one is ended as soon as it was seen. */
const POLL_MS = 10_000;
const SEEN_WITHIN_MS = 3_000;
const LOOKS_EVERY_MS = 100;

/**
 * Temporal tells no time but that at which somebody polled a task queue last: so a queue of nobody else's is polled, and nothing
 * is written. Whoever may only read is told that the clock was not seen.
 */
export async function lookAtTemporalClock(client: Client, findings: Findings): Promise<void> {
  const { workflowService, connection, options } = client;
  const { namespace, identity } = options;
  const queue = { namespace, taskQueue: { name: `headroom-doctor-${randomUUID()}` } };
  const asked = Date.now();
  const seen = new AbortController();
  const poll = connection.withAbortSignal(seen.signal, async () =>
    connection.withDeadline(asked + POLL_MS, async () => workflowService.pollWorkflowTaskQueue({ ...queue, identity })),
  );
  // It ends with an error in any case: refused, or not needed any more.
  const ended = poll.then(
    () => true,
    () => true,
  );
  try {
    while (Date.now() < asked + SEEN_WITHIN_MS) {
      const { pollers } = await workflowService.describeTaskQueue(queue);
      const { seconds, nanos } = pollers?.[0]?.lastAccessTime ?? {};
      if (seconds !== undefined) {
        const told = Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;
        return tellWhere("Temporal's server", { told, earliest: asked }, findings);
      }
      if (await Promise.race([ended, sleep(LOOKS_EVERY_MS, false)])) break;
    }
  } finally {
    seen.abort();
    await ended;
  }
  findings.unknown(
    "The clock of Temporal's server was not seen.",
    'Compare it by hand, or ask with a key that may write.',
  );
}

function compare(server: string, date: string | undefined, asked: number, findings: Findings): void {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told)) {
    findings.unknown(`${capital(server)} does not say its time.`, 'Compare its clock by hand.');
    return;
  }
  // In whole seconds.
  tellWhere(server, { told, earliest: asked - 1_000 }, findings);
}

/** It was told at some moment between `earliest` and now. */
function tellWhere(
  server: string,
  { told, earliest }: { readonly told: number; readonly earliest: number },
  findings: Findings,
): void {
  const latest = Date.now();
  const ahead = told > latest ? told - latest : Math.min(0, told - earliest);
  if (Math.abs(ahead) > UNSEEN_MS) tell(server, ahead, findings);
  else findings.ok(`The clock of ${server} agrees with this machine's.`);
}

function tell(server: string, aheadMs: number, findings: Findings): void {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const what = `The clock of ${server} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's.`;
  if (Math.abs(aheadMs) > WRONG_MS) findings.wrong(what, MEND);
  else findings.warning(what, MEND);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
