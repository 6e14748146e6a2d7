/** Usage episodes, to be recorded: they need a cluster without Kubernetes' own quota controller, and no forge. */
import {
  type CoreV1Api,
  PatchStrategy,
  type RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1PolicyRule,
} from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { quotaUsageId } from '../../domain/kernel/target.ts';
import { commandSignals, commandUpdates, status, type UsageStatus } from '../../workflows/quota-usage/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { Recorded } from './scenarios.ts';

/** What a scenario drives. */
interface UsageServers {
  readonly cluster: string;
  readonly client: Client;
  /** As an admin. */
  readonly core: CoreV1Api;
  readonly rbac: RbacAuthorizationV1Api;
  readonly systemNamespace: string;
}

export type UsageScenario = (servers: UsageServers, namespace: string) => Promise<Recorded>;

const QUOTA = 'compute';
const STARTER_ROLE = 'headroom-starter-quota-usage';
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

class CountedNamespace {
  readonly servers: UsageServers;
  readonly namespace: string;
  readonly workflowId: string;

  constructor(servers: UsageServers, namespace: string) {
    this.servers = servers;
    this.namespace = namespace;
    this.workflowId = quotaUsageId({ cluster: servers.cluster, namespace, quota: QUOTA });
  }

  get handle() {
    return this.servers.client.workflow.getHandle(this.workflowId);
  }

  async create(hard: Readonly<Record<string, string>>): Promise<void> {
    const { core } = this.servers;
    await core.createNamespace({ body: { metadata: { name: this.namespace } } });
    await core.createNamespacedResourceQuota({
      namespace: this.namespace,
      body: { metadata: { name: QUOTA }, spec: { hard } },
    });
  }

  async used(resource: string): Promise<string | undefined> {
    const quota = await this.servers.core.readNamespacedResourceQuota({ name: QUOTA, namespace: this.namespace });
    return quota.status?.used?.[resource];
  }

  async says(used: Readonly<Record<string, string>>): Promise<void> {
    await this.servers.core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: this.namespace, body: { status: { used } } },
      merge,
    );
  }

  /** The limits of the status are those of the spec. */
  async follows(hard: Readonly<Record<string, string>>): Promise<void> {
    await this.servers.core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: this.namespace, body: { status: { hard } } },
      merge,
    );
  }

  async stands(phase: UsageStatus['phase'], reason?: UsageStatus['reason']): Promise<void> {
    await eventually(`it is ${phase}`, async () => {
      const said = await this.handle.query(status).catch(() => null);
      return said?.phase === phase && (reason === undefined || said.reason === reason);
    });
  }

  /** The newest run, which may still go on. */
  async recorded(): Promise<Recorded> {
    const { runId } = await eventually(
      'an episode is there',
      async () => await this.handle.describe().catch(() => null),
    );
    return { workflowId: this.workflowId, runId };
  }
}

/** Episodes in mode `own`. */
export const owned: Readonly<Record<string, UsageScenario>> = {
  'usage-written': async (servers, namespace) => {
    const counted = new CountedNamespace(servers, namespace);
    await counted.create({ pods: '5', 'count/configmaps': '10' });
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    const recorded = await counted.recorded();
    await servers.client.workflow.getHandle(recorded.workflowId, recorded.runId).result();
    return recorded;
  },

  'usage-unmeasured': async (servers, namespace) => {
    const rules = await starterRules(servers);
    // Everything that the other scenarios count, and nothing else.
    await narrow(servers, [
      { apiGroups: [''], resources: ['pods', 'configmaps', 'resourcequotas'], verbs: ['list', 'watch'] },
    ]);
    const counted = new CountedNamespace(servers, namespace);
    await counted.create({ pods: '5', services: '3' });
    await eventually('the rest is counted', async () => (await counted.used('pods')) === '0');
    await counted.stands('Blocked', 'Unmeasured');
    const recorded = await firstRun(servers, counted.workflowId);
    await counted.handle.signal(commandSignals.pause, { by: 'alice', reason: 'an incident' });
    await counted.stands('Paused');
    await counted.handle.executeUpdate(commandUpdates.resume, { args: [{ by: 'alice' }] });
    await counted.stands('Blocked', 'Unmeasured');
    await narrow(servers, rules);
    await counted.handle.executeUpdate(commandUpdates.reconcileNow, { args: [{ by: 'alice' }] });
    await eventually('all is counted', async () => (await counted.used('services')) === '0');
    await eventually('it ends', async () => (await counted.handle.describe()).status.name === 'COMPLETED');
    return recorded;
  },

  'usage-globally-paused': async (servers, namespace) => {
    const { core, systemNamespace } = servers;
    const pause = { metadata: { name: 'headroom-pause' }, data: { by: 'alice', reason: 'an incident' } };
    await core.createNamespacedConfigMap({ namespace: systemNamespace, body: pause });
    const counted = new CountedNamespace(servers, namespace);
    await counted.create({ pods: '5' });
    await counted.stands('Blocked', 'GloballyPaused');
    const recorded = await counted.recorded();
    await core.deleteNamespacedConfigMap({ name: 'headroom-pause', namespace: systemNamespace });
    await counted.handle.signal(commandSignals.reconcileNow, { by: 'alice' });
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    return recorded;
  },
};

/** Episodes in mode `audit`. */
export const audited: Readonly<Record<string, UsageScenario>> = {
  'usage-wrong': async (servers, namespace) => {
    const counted = new CountedNamespace(servers, namespace);
    await counted.create({ pods: '5' });
    // Nobody else writes this status.
    await counted.follows({ pods: '5' });
    await counted.says({ pods: '4' });
    await counted.stands('Wrong', 'UsageWrong');
    const recorded = await counted.recorded();
    await counted.says({ pods: '0' });
    await servers.client.workflow.getHandle(recorded.workflowId, recorded.runId).result();
    return recorded;
  },
};

async function starterRules({ rbac }: UsageServers): Promise<V1PolicyRule[]> {
  const { rules = [] } = await rbac.readClusterRole({ name: STARTER_ROLE });
  return rules;
}

async function narrow({ rbac }: UsageServers, rules: readonly V1PolicyRule[]): Promise<void> {
  await rbac.patchClusterRole({ name: STARTER_ROLE, body: { rules } }, merge);
}

/** The run that the server began this id with. */
async function firstRun({ client }: UsageServers, workflowId: string): Promise<Recorded> {
  const { raw, runId } = await client.workflow.getHandle(workflowId).describe();
  return { workflowId, runId: raw.workflowExecutionInfo?.firstRunId ?? runId };
}
