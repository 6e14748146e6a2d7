/** Whether the clock of this machine agrees with those of the servers. */
import { VersionApi } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { taskQueue } from '../../../domain/kernel/target.ts';
import type { ClosableKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { Config } from '../../config.ts';
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

/**
 * Temporal tells no time but that at which a worker polled last, which is up to a minute ago: so its clock is only seen where it is
 * ahead by more than that.
 */
export async function lookAtTemporalClock(client: Client, config: Config, findings: Findings): Promise<void> {
  const { namespace } = client.options;
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue(config.kubernetes.clusterName) },
  });
  const seconds = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0));
  if (seconds.length === 0) return;
  const ahead = Math.max(...seconds) * 1_000 - Date.now();
  if (ahead > UNSEEN_MS) tell("Temporal's server", ahead, findings);
  else findings.ok("The clock of Temporal's server is less than a minute ahead of this machine's, or behind it.");
}

function compare(server: string, date: string | undefined, asked: number, findings: Findings): void {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told)) {
    findings.unknown(`${capital(server)} tells no time.`, 'Compare its clock by hand.');
    return;
  }
  // It was told at some moment between the question and now, in whole seconds.
  const [earliest, latest] = [asked - 1_000, Date.now()];
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
