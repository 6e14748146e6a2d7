/** Usage episodes, to be recorded: they need a cluster without Kubernetes' own quota controller, and no forge. */
import {
  CoreV1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1PolicyRule,
} from '@kubernetes/client-node';
import { quotaUsageId, quotaUsageRollUpId } from '../../../domain/quota-usage/target.ts';
import { commandSignals, commandUpdates, status, type UsageStatus } from '../../../workflows/quota-usage/messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { withAuditedQuotas, withCountedQuotas } from '../platforms.ts';
import { type Recorded, type Scenario, type Stage, stage } from '../stages.ts';

const QUOTA = 'compute';
/** Milliseconds: what is told after a minute. */
const LONG_MS = 180_000;
const STARTER_ROLE = 'headroom-starter-quota-usage-reading';
const OWNER_ROLE = 'headroom-starter-quota-usage-own';
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

class CountedNamespace {
  readonly plane: HeadroomPlane;
  readonly namespace: string;
  readonly workflowId: string;
  /** As an admin. */
  readonly core: CoreV1Api;

  constructor(plane: HeadroomPlane, namespace: string) {
    this.plane = plane;
    this.namespace = namespace;
    this.workflowId = quotaUsageId({ cluster: CLUSTER, namespace, quota: QUOTA });
    this.core = coreOf(plane);
  }

  get handle() {
    return this.plane.client.workflow.getHandle(this.workflowId);
  }

  async create(hard: Readonly<Record<string, string>>): Promise<void> {
    const { core } = this;
    await core.createNamespace({ body: { metadata: { name: this.namespace } } });
    await core.createNamespacedResourceQuota({
      namespace: this.namespace,
      body: { metadata: { name: QUOTA }, spec: { hard } },
    });
  }

  async used(resource: string): Promise<string | undefined> {
    const quota = await this.core.readNamespacedResourceQuota({ name: QUOTA, namespace: this.namespace });
    return quota.status?.used?.[resource];
  }

  async shown(used: Readonly<Record<string, string>>): Promise<void> {
    await this.core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: this.namespace, body: { status: { used } } },
      merge,
    );
  }

  /** The limits of the status are those of the spec. */
  async follows(hard: Readonly<Record<string, string>>): Promise<void> {
    await this.core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: this.namespace, body: { status: { hard } } },
      merge,
    );
  }

  async untilPhase(phase: UsageStatus['phase'], reason?: UsageStatus['reason']): Promise<void> {
    await eventually(
      `it is ${phase}`,
      async () => {
        const shown = await this.handle.query(status).catch(() => null);
        return shown?.phase === phase && (reason === undefined || shown.reason === reason);
      },
      LONG_MS,
    );
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

/** Episodes in mode `own` that do not notice each other. */
const together: Readonly<Record<string, Scenario<HeadroomPlane>>> = {
  'rolled-up': async (plane, namespace) => {
    const counted = new CountedNamespace(plane, namespace);
    await counted.create({ pods: '5', 'count/configmaps': '10' });
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    const workflowId = quotaUsageRollUpId(CLUSTER);
    const handle = plane.client.workflow.getHandle(workflowId);
    const { runId } = await eventually(
      'the minute is over',
      async () => await handle.describe().catch(() => null),
      LONG_MS,
    );
    return { workflowId, runId };
  },
};

/** Episodes in mode `own` that change what Headroom may do or know. */
const alone: Readonly<Record<string, Scenario<HeadroomPlane>>> = {
  unmeasured: async (plane, namespace) => {
    const rules = await starterRules(plane);
    // Everything that the other scenarios count, and nothing else.
    await narrow(plane, [
      { apiGroups: [''], resources: ['pods', 'configmaps', 'resourcequotas'], verbs: ['list', 'watch'] },
    ]);
    const counted = new CountedNamespace(plane, namespace);
    await counted.create({ pods: '5', services: '3' });
    await eventually('the rest is counted', async () => (await counted.used('pods')) === '0');
    await counted.untilPhase('Blocked', 'Unmeasured');
    const recorded = await firstRun(plane, counted.workflowId);
    await counted.handle.signal(commandSignals.pause, { by: 'alice', reason: 'an incident' });
    await counted.untilPhase('Paused');
    await counted.handle.executeUpdate(commandUpdates.resume, { args: [{ by: 'alice' }] });
    await counted.untilPhase('Blocked', 'Unmeasured');
    await narrow(plane, rules);
    await counted.handle.executeUpdate(commandUpdates.reconcileNow, { args: [{ by: 'alice' }] });
    await eventually('all is counted', async () => (await counted.used('services')) === '0');
    await eventually('it ends', async () => (await counted.handle.describe()).status.name === 'COMPLETED');
    return recorded;
  },

  'globally-paused': async (plane, namespace) => {
    const core = coreOf(plane);
    const pause = { metadata: { name: 'headroom-pause' }, data: { by: 'alice', reason: 'an incident' } };
    await core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: pause });
    const counted = new CountedNamespace(plane, namespace);
    await counted.create({ pods: '5' });
    await counted.untilPhase('Paused', 'GloballyPaused');
    const recorded = await counted.recorded();
    await core.deleteNamespacedConfigMap({ name: 'headroom-pause', namespace: SYSTEM_NAMESPACE });
    await counted.handle.signal(commandSignals.reconcileNow, { by: 'alice' });
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    return recorded;
  },

  'namespace-paused': async (plane, namespace) => {
    const core = coreOf(plane);
    const say = async (value: string | null): Promise<void> => {
      const body = { data: { [`namespace_${namespace}`]: value } };
      await core.patchNamespacedConfigMap({ name: 'headroom-pauses', namespace: SYSTEM_NAMESPACE, body }, merge);
    };
    await say('{"by":"alice","reason":"a migration","at":null}');
    const counted = new CountedNamespace(plane, namespace);
    await counted.create({ pods: '5' });
    await counted.untilPhase('Paused', 'Paused');
    const recorded = await counted.recorded();
    await say(null);
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    return recorded;
  },

  refused: async (plane, namespace) => {
    const counted = new CountedNamespace(plane, namespace);
    await counted.create({ pods: '5', 'count/configmaps': '10' });
    await eventually('it is counted', async () => (await counted.used('pods')) === '0');
    const rights = await rbacOf(plane).readClusterRole({ name: OWNER_ROLE });
    await rbacOf(plane).patchClusterRole({ name: OWNER_ROLE, body: { rules: [] } }, merge);
    await counted.shown({ pods: '4' });
    await counted.untilPhase('Blocked', 'WriteFailed');
    const recorded = await counted.recorded();
    await rbacOf(plane).patchClusterRole({ name: OWNER_ROLE, body: { rules: rights.rules ?? [] } }, merge);
    await plane.client.workflow.getHandle(recorded.workflowId, recorded.runId).result();
    return recorded;
  },
};

/** Episodes in mode `audit`. */
const audited: Readonly<Record<string, Scenario<HeadroomPlane>>> = {
  wrong: async (plane, namespace) => {
    const counted = new CountedNamespace(plane, namespace);
    const hard = { pods: '5', 'count/configmaps': '10' };
    await counted.create(hard);
    // Nobody else writes this status. One ConfigMap is in every namespace: the API server's certificate.
    await counted.follows(hard);
    await counted.shown({ pods: '4', 'count/configmaps': '1' });
    await counted.untilPhase('Wrong', 'UsageWrong');
    const recorded = await counted.recorded();
    await counted.shown({ pods: '0', 'count/configmaps': '7' });
    await eventually('it is late', async () => {
      await counted.handle.executeUpdate(commandUpdates.reconcileNow, { args: [{ by: 'alice' }] });
      return (await counted.handle.query(status)).phase === 'Late';
    });
    await counted.untilPhase('Wrong', 'UsageWrong');
    await counted.shown({ 'count/configmaps': '1' });
    await plane.client.workflow.getHandle(recorded.workflowId, recorded.runId).result();
    return recorded;
  },
};

function coreOf({ plane }: HeadroomPlane): CoreV1Api {
  return accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
}

function rbacOf({ plane }: HeadroomPlane): RbacAuthorizationV1Api {
  return accessOf(plane.adminKubeconfig).makeApiClient(RbacAuthorizationV1Api);
}

async function starterRules(plane: HeadroomPlane): Promise<V1PolicyRule[]> {
  const { rules = [] } = await rbacOf(plane).readClusterRole({ name: STARTER_ROLE });
  return rules;
}

async function narrow(plane: HeadroomPlane, rules: readonly V1PolicyRule[]): Promise<void> {
  await rbacOf(plane).patchClusterRole({ name: STARTER_ROLE, body: { rules } }, merge);
}

/** The run that the server began this id with. */
async function firstRun({ client }: HeadroomPlane, workflowId: string): Promise<Recorded> {
  const { raw, runId } = await client.workflow.getHandle(workflowId).describe();
  return { workflowId, runId: raw.workflowExecutionInfo?.firstRunId ?? runId };
}

export const stages: readonly Stage[] = [
  stage(withCountedQuotas, { together, alone }),
  stage(withAuditedQuotas, { together: audited }),
];
