/** `make demo`: the main job on real servers, told as it happens. `--exit` ends it with 0 (6 of 6 pods) or 1. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quotaResizeId } from '../../domain/kernel/target.ts';
import { status } from '../../workflows/quota-resize/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { diffBetween } from '../kernel/stack/gitops-repository.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { createDeployment, hardOf, podCount } from '../kernel/stack/workloads.ts';
import { demoFiles } from './repository.ts';

const CLUSTER = 'demo';
const REPLICAS = 6;
const target = { cluster: CLUSTER, namespace: 'team-a', quota: 'compute' };

const args = readArguments();
const started = Date.now();
let stack: Stack | undefined;
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
  });
}

try {
  console.log('Starting Kubernetes, Temporal, a Git forge, and Headroom');
  stack = await startStack({
    cluster: CLUSTER,
    files: demoFiles,
    forge: { checks: 'pass', checkDelayMs: 1500, validate: false },
    env: {
      HEADROOM_MODE: 'propose',
      ENABLE_AUTO_MERGE: 'true',
      HEADROOM_CHECKS_POLL_MIN: '500ms',
      HEADROOM_SYNC_POLL: '500ms',
    },
    log: (message) => tell(message),
  });
  const succeeded = await story(stack);
  addresses(stack);
  if (args.exit) process.exitCode = succeeded ? 0 : 1;
  else {
    console.log('\nEverything stays up until Ctrl-C.');
    await new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
} finally {
  if (!args.exit) console.log('\nStopping');
  await stack?.stop();
}
process.exit();

/** One Deployment too large for its quota, from the first refusal to the last pod. */
async function story({ client, core, apps, forge, gitDir }: Stack): Promise<boolean> {
  await eventually('the namespace team-a is there', async () => await hardOf(core, target.namespace, target.quota));
  await eventually('Kubernetes has counted the quota', async () => {
    const quota = await core.readNamespacedResourceQuota({ namespace: target.namespace, name: target.quota });
    return quota.status?.used !== undefined;
  });
  tell(`team-a may request 2 CPUs; a Deployment of ${REPLICAS} × 500m comes`);
  await createDeployment(apps, {
    namespace: target.namespace,
    name: 'web',
    replicas: REPLICAS,
    requests: { cpu: '500m' },
  });

  let shown = '';
  let diffShown = false;
  let pods = 0;
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline && !stopping.signal.aborted) {
    const now = await podCount(core, target.namespace);
    if (now !== pods) {
      pods = now;
      tell(`pods: ${pods} of ${REPLICAS}`);
    }
    const seen = await client.workflow
      .getHandle(quotaResizeId(target))
      .query(status)
      .catch(() => null);
    if (seen !== null && `${seen.phase}/${seen.reason}` !== shown) {
      shown = `${seen.phase}/${seen.reason}`;
      tell(`${seen.phase} (${seen.reason}): ${plain(seen.detail)}`);
    }
    const pullRequest = seen?.decision?.pullRequest;
    if (pullRequest && !diffShown) {
      diffShown = true;
      tell(`pull request #${pullRequest.number}: ${pullRequest.url}`);
      console.log(indent(await diffBetween(gitDir, pullRequest.base, pullRequest.headSha)));
    }
    if (pods === REPLICAS && seen?.phase === 'CoolingDown') break;
    await sleep(150);
  }
  const pulls = forge.writes.filter(
    ({ method, path, status }) => method === 'POST' && path.endsWith('/pulls') && status === 201,
  );
  const hard = await hardOf(core, target.namespace, target.quota);
  console.log();
  tell(
    `${pods} of ${REPLICAS} pods created after ${pulls.length === 1 ? 'one pull request' : `${pulls.length} pull requests`}; requests.cpu is now ${hard['requests.cpu']}`,
  );
  return pods === REPLICAS && pulls.length === 1;
}

function addresses({ temporal, forge, controlPlane }: Stack): void {
  const id = encodeURIComponent(quotaResizeId(target));
  console.log(`
Temporal UI    ${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows/${id}
Pull request   ${forge.url}/acme/gitops/pull/1
Clone          git clone ${forge.url}/acme/gitops.git
Kubernetes     KUBECONFIG=${controlPlane.adminKubeconfig}`);
}

function tell(message: string): void {
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${message}`);
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

function readArguments(): { exit: boolean } {
  try {
    const { values } = parseArgs({ options: { exit: { type: 'boolean', default: false } } });
    return values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}. Known: --exit`);
    process.exit(2);
  }
}
