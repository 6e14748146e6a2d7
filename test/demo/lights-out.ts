/** One night, told as it happens: what a schedule would touch, an approval, dusk, a person who works late, dawn, and what it saved. */
import type { V1Deployment, V1OwnerReference } from '@kubernetes/client-node';
import { sentence } from '../../domain/kernel/sentence.ts';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { LightsOutCluster, startLightsOutPlane } from '../lights-out/cluster.ts';
import { headroom } from '../starter/run-program.ts';
import { pause } from './interrupt.ts';
import { planeStory } from './plane-story.ts';
import { KUBERNETES_AND_TEMPORAL, type Teller } from './story.ts';

const SCHEDULE = 'nights';
const NAMESPACE = 'shop';
const WEB = 12;
const API = 2;
const MINUTE_MS = 60_000;
/** Until the preview and the approval are through, also on a slow machine. */
const EVENING_MS = 25_000;
/** Three times what the longest chapter takes on a slow machine, beyond the minute that it may wait for. */
const CHAPTER_MS = MINUTE_MS + 90_000;
const EVERY_MS = 500;

/** It succeeds when everything that slept is what it was, and what a person woke in the night was left. */
export const lightsOutStory = planeStory({
  opening: 'Starting Kubernetes, Temporal, and Headroom',
  servers: KUBERNETES_AND_TEMPORAL,
  startPlane: async () => await startLightsOutPlane({ ownServers: true }),
  serversAreUp: 'Kubernetes and Temporal are up',
  workflowId: lightsOutId({ cluster: CLUSTER, schedule: SCHEDULE }),
  tell: async (plane, teller) => await new Tale(plane, teller).tell(),
});

const OWNER = { apiVersion: 'postgresql.example/v1', kind: 'Postgres', name: 'main', uid: 'of-main', controller: true };

function deploymentOf(
  name: string,
  replicas: number,
  requests: { readonly cpu: string; readonly memory: string },
  ownerReferences: V1OwnerReference[] = [],
): V1Deployment {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'test/none:1', resources: { requests } }];
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } };
  return { metadata: { name, ownerReferences }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** The pattern that names a minute of each day. */
function cronAt(moment: Date): string {
  return `${moment.getUTCMinutes()} ${moment.getUTCHours()} * * *`;
}

class Tale {
  readonly #plane: HeadroomPlane;
  readonly #cluster: LightsOutCluster;
  readonly #log: Teller['log'];
  readonly #interrupt: AbortSignal;
  #shown = { counts: '', status: '' };

  constructor(plane: HeadroomPlane, { log, interrupt }: Teller) {
    this.#plane = plane;
    this.#cluster = new LightsOutCluster(plane);
    this.#log = log;
    this.#interrupt = interrupt;
  }

  async tell(): Promise<boolean> {
    await this.#fill();
    const dusk = new Date(Math.ceil((Date.now() + EVENING_MS) / MINUTE_MS) * MINUTE_MS);
    const dawn = new Date(dusk.getTime() + MINUTE_MS);
    this.#log(`a LightsOutSchedule comes: asleep from ${timeOf(dusk)} to ${timeOf(dawn)} UTC, once it is approved`);
    await this.#cluster.schedule(SCHEDULE, {
      downscale: cronAt(dusk),
      upscale: cronAt(dawn),
      namespaceSelector: { matchLabels: { environment: 'dev' } },
      requireApproval: true,
      readinessTimeout: '2m',
    });
    if (!(await this.#until(async () => (await this.#statusOf())?.reason === 'ApprovalNeeded' || this.#hasScope())))
      return false;

    await this.#command('preview', SCHEDULE, '--workloads');
    const { status } = await this.#cluster.readSchedule(SCHEDULE);
    const digest = status?.scope?.digest ?? '';
    await this.#command('approve', SCHEDULE, '--digest', digest, '--by', 'alice', '--reason', 'looked at each of them');

    this.#log(`it is evening, and dusk is at ${timeOf(dusk)}`);
    if (!(await this.#until(async () => (await this.#replicas('web')) === 0 && (await this.#phaseIs('Down')))))
      return false;
    this.#log(`a person works late: kubectl scale deployment api --replicas=${API}`);
    await this.#cluster.scale(NAMESPACE, 'api', API);
    if (
      !(await this.#until(async () => (await this.#statusOf())?.facts.some((fact) => fact.includes('/api')) === true))
    )
      return false;
    await this.#command('status', SCHEDULE);

    this.#log(`dawn is at ${timeOf(dawn)}`);
    if (!(await this.#until(async () => await this.#phaseIs('Up')))) return false;
    await this.#command('report', SCHEDULE);
    return await this.#isAsBefore();
  }

  async #fill(): Promise<void> {
    const { apps, core } = this.#cluster;
    const namespace = NAMESPACE;
    await core.createNamespace({ body: { metadata: { name: namespace, labels: { environment: 'dev' } } } });
    const deployments = [
      deploymentOf('web', WEB, { cpu: '2', memory: '4Gi' }),
      deploymentOf('api', API, { cpu: '500m', memory: '1Gi' }),
      deploymentOf('postgres', 1, { cpu: '1', memory: '4Gi' }, [OWNER]),
    ];
    for (const body of deployments)
      await apps.createNamespacedDeployment({ namespace, body, fieldManager: 'kubectl-create' });
    await this.#cluster.cronJob(namespace, 'report');
    this.#log(`a namespace has ${WEB} replicas of web, ${API} of api, a CronJob, and a postgres that an operator owns`);
  }

  async #isAsBefore(): Promise<boolean> {
    const [web, api, postgres] = await Promise.all(
      ['web', 'api', 'postgres'].map(async (name) => await this.#replicas(name)),
    );
    const isSuspended = await this.#cluster.suspended(NAMESPACE, 'report');
    const writes = await this.#cluster.writes(NAMESPACE);
    const isLeft = writes.every(({ objectRef }) => objectRef?.name !== 'postgres');
    const isAsBefore = web === WEB && api === API && postgres === 1 && isSuspended === false && isLeft;
    this.#log(
      isAsBefore ? 'everything is what it was, and the postgres was never touched' : 'something is not what it was',
    );
    return isAsBefore;
  }

  async #replicas(name: string): Promise<number | undefined> {
    return await this.#cluster.replicas(NAMESPACE, name);
  }

  async #statusOf() {
    return await this.#cluster.status(SCHEDULE).catch(() => null);
  }

  async #phaseIs(phase: 'Up' | 'Down'): Promise<boolean> {
    const status = await this.#statusOf();
    return status?.phase === phase && status.reason === 'AsScheduled';
  }

  async #hasScope(): Promise<boolean> {
    return (await this.#cluster.readSchedule(SCHEDULE)).status?.scope !== undefined;
  }

  /** Runs `headroom lights-out …`, and shows what it prints. */
  async #command(...args: readonly string[]): Promise<void> {
    const { plane, temporal } = this.#plane;
    const quoted = args.map((arg) => (/\s/.test(arg) ? `"${arg}"` : arg));
    console.log(`\n$ headroom lights-out ${quoted.join(' ')}`);
    const { stdout, stderr } = await headroom(['lights-out', ...args], {
      CLUSTER_NAME: CLUSTER,
      KUBECONFIG: plane.adminKubeconfig,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    });
    console.log(`${stdout}${stderr}`);
  }

  /** Tells what changes, until it is as it should be. False: it was not so in time. */
  async #until(isThere: () => Promise<boolean>): Promise<boolean> {
    const deadline = Date.now() + CHAPTER_MS;
    while (Date.now() < deadline && !this.#interrupt.aborted) {
      // No kubelet does it here.
      await this.#cluster.readyPods(NAMESPACE).catch(() => {});
      await this.#tellStatus();
      await this.#tellCounts();
      if (await isThere()) return true;
      await pause(EVERY_MS, this.#interrupt);
    }
    return false;
  }

  async #tellCounts(): Promise<void> {
    const { items } = await this.#cluster.apps.listNamespacedDeployment({ namespace: NAMESPACE });
    const isSuspended = await this.#cluster.suspended(NAMESPACE, 'report');
    const counts = items.map(
      ({ metadata, spec, status }) => `${metadata?.name} ${status?.readyReplicas ?? 0}/${spec?.replicas}`,
    );
    const shown = `${counts.join(', ')}, report ${isSuspended === true ? 'suspended' : 'as planned'}`;
    if (shown === this.#shown.counts) return;
    this.#shown = { ...this.#shown, counts: shown };
    this.#log(shown);
  }

  /** What the workflow of the schedule says; nothing before there is one. */
  async #tellStatus(): Promise<void> {
    const status = await this.#statusOf();
    const shown = status === null ? '' : `${status.phase} (${status.reason}): ${sentence(status.detail)}`;
    if (shown === '' || shown === this.#shown.status) return;
    this.#shown = { ...this.#shown, status: shown };
    this.#log(shown);
  }
}

function timeOf(moment: Date): string {
  return moment.toISOString().slice(11, 16);
}
