/** The main job, told as it happens: a quota that is too small, a pull request, and the pods. */
import { sentence } from '../../domain/kernel/sentence.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { status } from '../../workflows/quota-resize/messages.ts';
import { logTail } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { diffBetween } from '../kernel/stack/gitops-repository.ts';
import type { Stack } from '../kernel/stack/stack.ts';
import { createDeployment, hardOf, podCount } from '../kernel/stack/workloads.ts';
import { pause } from './interrupt.ts';
import { addresses, startDemoServers, target } from './servers.ts';
import { KUBERNETES_AND_TEMPORAL, type Story, type Teller } from './story.ts';
import { openedBy } from '../kernel/forge/opening.ts';

const REPLICAS = 6;
/** Four times what the story takes on a slow machine. */
const STORY_MS = 120_000;

/** It succeeds when 6 of 6 pods came after one pull request. */
export const quotaResizeStory: Story = {
  opening: 'Starting Kubernetes, Temporal, a Git forge, and Headroom',
  servers: KUBERNETES_AND_TEMPORAL,
  start: async (teller) => {
    const stack = await startDemoServers(teller);
    return {
      tell: async () => {
        const { succeeded, pullRequestUrl } = await story(stack, teller);
        return { succeeded, addresses: addresses(stack, pullRequestUrl) };
      },
      stop: async () => await stack.stop(),
    };
  },
};

/** One Deployment too large for its quota, from the first refusal to the last pod. */
async function story(
  { client, core, apps, forge, gitDir, processes }: Stack,
  { log, interrupt }: Teller,
): Promise<{ readonly succeeded: boolean; readonly pullRequestUrl: string | null }> {
  await eventually('Kubernetes has counted the quota of team-a', async () => {
    if (interrupt.aborted) return true;
    const quota = await core.readNamespacedResourceQuota({ namespace: target.namespace, name: target.quota });
    return quota.status?.used !== undefined;
  });
  if (interrupt.aborted) return { succeeded: false, pullRequestUrl: null };
  log(`team-a may request 2 CPUs; a Deployment of ${REPLICAS} × 500m comes`);
  await createDeployment(apps, {
    namespace: target.namespace,
    name: 'web',
    replicas: REPLICAS,
    requests: { cpu: '500m' },
  });

  let shown = '';
  let pullRequestUrl: string | null = null;
  let pods = 0;
  const deadline = Date.now() + STORY_MS;
  while (Date.now() < deadline && !interrupt.aborted) {
    const now = await podCount(core, target.namespace);
    if (now !== pods) {
      pods = now;
      log(`pods: ${pods} of ${REPLICAS}`);
    }
    const seen = await client.workflow
      .getHandle(quotaResizeId(target))
      .query(status)
      .catch(() => null);
    if (seen !== null && `${seen.phase}/${seen.reason}` !== shown) {
      shown = `${seen.phase}/${seen.reason}`;
      log(`${seen.phase} (${seen.reason}): ${sentence(plain(seen.detail))}`);
    }
    const pullRequest = seen?.decision?.pullRequest;
    if (pullRequest && pullRequestUrl === null) {
      pullRequestUrl = pullRequest.url;
      log(`pull request #${pullRequest.number}: ${pullRequest.url}`);
      console.log(indent(await diffBetween(gitDir, pullRequest.base, pullRequest.headSha)));
    }
    if (pods === REPLICAS && seen?.phase === 'CoolingDown') break;
    await pause(150, interrupt);
  }
  if (interrupt.aborted) return { succeeded: false, pullRequestUrl };

  const pulls = forge.writes.filter((write) => openedBy(write) !== undefined);
  const hard = await hardOf(core, target.namespace, target.quota);
  const count = pulls.length === 1 ? 'one pull request' : `${pulls.length} pull requests`;
  console.log();
  log(`${pods} of ${REPLICAS} pods created after ${count}; requests.cpu is now ${hard['requests.cpu']}`);
  const succeeded = pods === REPLICAS && pulls.length === 1;
  if (!succeeded) {
    for (const { name, logFile } of processes) {
      console.error(`\nThe last lines of the ${name}:\n${await logTail(logFile)}`);
    }
  }
  return { succeeded, pullRequestUrl };
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `            ${line}`)
    .join('\n');
}

/** Without the Markdown of links. */
function plain(detail: string): string {
  return detail.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
