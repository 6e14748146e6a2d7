/** The namespaces, workloads and schedules of one sequence on the real cluster, each under a name of its own. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXCLUDE_UNTIL, GROUP, KIND, PLURAL, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import { commandSignals } from '../../../workflows/lights-out/messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { DOWN, type LightsOutCluster, savedStateOf, merge, type Schedule, UP } from '../cluster.ts';
import type { Keeper, Model, Row } from './model.ts';
import { type Action, type Maker, NAMESPACES, type NamespaceName, type ScheduleName, WORKLOADS } from './step.ts';

const apply = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
/** Long enough for a restarted API server on a busy machine. */
const PATIENCE_MS = 90_000;
const PAUSE_MS = 200;
/** Longer than a sequence takes. */
const LONG_MS = 3_600_000;

const MANAGERS: Readonly<Record<Maker, string>> = { person: 'kubectl-create', gitops: 'argocd-controller' };

/** A workload as it is found. */
export interface Seen {
  readonly value: number;
  readonly savedState: Readonly<Record<string, string>>;
  readonly label: string | null;
  /** Its controller has answered its last change. */
  readonly isAnswered: boolean;
}

export class World {
  readonly prefix: string;
  readonly #cluster: LightsOutCluster;

  constructor(cluster: LightsOutCluster, prefix: string) {
    this.#cluster = cluster;
    this.prefix = prefix;
  }

  name(of: NamespaceName | ScheduleName): string {
    return `${this.prefix}-${of}`;
  }

  async begin(): Promise<void> {
    for (const namespace of NAMESPACES) {
      const labels = namespace === 'z' ? {} : { lights: this.prefix };
      await once(409, async () => await this.#cluster.namespace(this.name(namespace), labels));
    }
    for (const key of Object.keys(WORKLOADS)) await this.#create(key, 'person');
  }

  /** Leaves nothing that would burden what comes after it. */
  async end(): Promise<void> {
    for (const namespace of NAMESPACES) {
      await once(404, async () => await this.#cluster.core.deleteNamespace({ name: this.name(namespace) }));
    }
  }

  /** Does what the model has taken in. `isHeard`: a command is answered; else it is left for the worker to find. */
  async act(action: Action, model: Model, isHeard: boolean): Promise<void> {
    const { core, custom } = this.#cluster;
    switch (action.what) {
      case 'make':
        return await this.#make(action.schedule, action.state);
      case 'create':
        return await this.#create(action.key, action.by);
      case 'remove':
        return await this.#remove(action.key);
      case 'label': {
        const lights = model.labelled.has(action.namespace) ? this.prefix : null;
        const name = this.name(action.namespace);
        await patiently(
          async () => await core.patchNamespace({ name, body: { metadata: { labels: { lights } } } }, merge),
        );
        return;
      }
      case 'spare': {
        const spare = model.row(action.key).isSpared ? 'yes' : null;
        return await this.#patch(action.key, { metadata: { labels: { spare } } }, 'kubectl-label');
      }
      case 'leave': {
        const until = model.row(action.key).isLeft ? new Date(Date.now() + LONG_MS).toISOString() : null;
        const body = { metadata: { annotations: { [EXCLUDE_UNTIL]: until } } };
        return await this.#patch(action.key, body, 'kubectl-annotate');
      }
      case 'set':
        return await this.#set(model.row(action.key), action.how);
      case 'sync':
        return await this.#sync(model.row(action.key));
      case 'rollout': {
        const containers = [{ name: 'main', image: `registry.example/app:${Date.now()}` }];
        const manager = MANAGERS[model.row(action.key).bornBy];
        return await this.#patch(action.key, { spec: { template: { spec: { containers } } } }, manager);
      }
      case 'delete':
      case 'vanish': {
        const name = this.name(action.schedule);
        await once(404, async () => await this.#cluster.deleteSchedule(name));
        if (action.what === 'delete') return;
        const body = { metadata: { finalizers: null } };
        const request = { group: GROUP, version: VERSION, plural: PLURAL, name, body };
        await once(404, async () => await custom.patchClusterCustomObject(request, merge));
        return;
      }
      case 'wake':
      case 'sleep':
      case 'cancel': {
        const input = {
          ...(action.what === 'cancel' ? {} : { for: '3h' }),
          ...(action.namespace === null ? {} : { namespace: this.name(action.namespace) }),
        };
        const name = this.name(action.schedule);
        if (isHeard) await this.#cluster.command(name, action.what, input);
        else await this.#cluster.handle(name).signal(commandSignals[action.what], { by: 'alice', ...input });
        return;
      }
      default: {
        const keeper = model.keeper(action.schedule);
        if (keeper === undefined) throw new Error(`there is no schedule ${action.schedule}`);
        const body = { spec: this.#specOf(keeper) };
        await patiently(async () => await this.#cluster.patchSchedule(this.name(action.schedule), body));
      }
    }
  }

  /** Every workload that there is, by its key. */
  async observeInput(): Promise<ReadonlyMap<string, Seen>> {
    const { apps, batch } = this.#cluster;
    const found = new Map<string, Seen>();
    for (const name of NAMESPACES) {
      const namespace = this.name(name);
      const [deployments, statefulSets, cronJobs] = await patiently(
        async () =>
          await Promise.all([
            apps.listNamespacedDeployment({ namespace }),
            apps.listNamespacedStatefulSet({ namespace }),
            batch.listNamespacedCronJob({ namespace }),
          ]),
      );
      for (const { metadata, spec, status } of [...deployments.items, ...statefulSets.items]) {
        const value = spec?.replicas ?? 1;
        const isAnswered =
          (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) && (status?.replicas ?? 0) === value;
        found.set(`${name}/${metadata?.name}`, { value, ...marked(metadata), isAnswered });
      }
      for (const { metadata, spec } of cronJobs.items) {
        found.set(`${name}/${metadata?.name}`, {
          value: spec?.suspend === true ? 0 : 1,
          ...marked(metadata),
          isAnswered: true,
        });
      }
    }
    return found;
  }

  async schedule(name: ScheduleName): Promise<Schedule | null> {
    try {
      return await patiently(async () => await this.#cluster.readSchedule(this.name(name)));
    } catch (error) {
      if (codeOf(error) === 404) return null;
      throw error;
    }
  }

  async #make(name: ScheduleName, state: 'Up' | 'Down'): Promise<void> {
    // A batch of one: there is something to be killed in the middle of.
    const pace = { batchSize: 1 };
    const body = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: KIND,
      metadata: { name: this.name(name) },
      spec: {
        ...(state === 'Up' ? UP : DOWN),
        ...(name === 'a'
          ? {
              namespaceSelector: { matchLabels: { lights: this.prefix } },
              excludeLabels: { matchLabels: { spare: 'yes' } },
            }
          : { namespaces: [this.name('y'), this.name('z')] }),
        downscaleRateLimit: pace,
        upscaleRateLimit: pace,
        // Nobody makes pods ready here, which CronJobs would wait for.
        readinessTimeout: '0',
      },
    };
    const request = { group: GROUP, version: VERSION, plural: PLURAL, body };
    await once(409, async () => await this.#cluster.custom.createClusterCustomObject(request));
  }

  #specOf({ says, isOnlySome, excluded, keeps, isSuspended }: Keeper) {
    return {
      ...(says === 'Up' ? UP : DOWN),
      workloadTypes: isOnlySome ? ['StatefulSet', 'CronJob'] : [],
      excludeNamespaces: [...excluded].map((namespace) => this.name(namespace)),
      downscaleReplicas: keeps,
      suspend: isSuspended,
    };
  }

  #place(key: string) {
    const { kind, namespace, name, value } = WORKLOADS[key] ?? {};
    if (kind === undefined || namespace === undefined || name === undefined || value === undefined) {
      throw new Error(`there is no workload ${key}`);
    }
    return { kind, value, where: { namespace: this.name(namespace), name } };
  }

  async #create(key: string, by: Maker): Promise<void> {
    const { apps, batch } = this.#cluster;
    const { kind, value, where } = this.#place(key);
    const { namespace, name } = where;
    const containers = [{ name: 'main', image: 'registry.example/app:1' }];
    const template = { metadata: { labels: { app: name } }, spec: { containers } };
    const parts = { replicas: value, selector: { matchLabels: { app: name } }, template };
    const request = { namespace, fieldManager: MANAGERS[by] };
    await once(409, async () => {
      switch (kind) {
        case 'Deployment':
          await apps.createNamespacedDeployment({
            ...request,
            // Its pods never become ready here, and those of an old image would wait for the new ones.
            body: { metadata: { name }, spec: { ...parts, strategy: { type: 'Recreate' } } },
          });
          return;
        case 'StatefulSet':
          await apps.createNamespacedStatefulSet({
            ...request,
            // Likewise, none is to wait for another.
            body: { metadata: { name }, spec: { ...parts, serviceName: name, podManagementPolicy: 'Parallel' } },
          });
          return;
        case 'CronJob':
          await batch.createNamespacedCronJob({
            ...request,
            body: {
              metadata: { name },
              spec: {
                schedule: '0 0 31 12 *',
                suspend: value === 0,
                jobTemplate: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } },
              },
            },
          });
      }
    });
  }

  async #remove(key: string): Promise<void> {
    const { apps, batch } = this.#cluster;
    const { kind, where } = this.#place(key);
    const request = { ...where, propagationPolicy: 'Background' };
    await once(404, async () => {
      if (kind === 'Deployment') await apps.deleteNamespacedDeployment(request);
      else if (kind === 'StatefulSet') await apps.deleteNamespacedStatefulSet(request);
      else await batch.deleteNamespacedCronJob(request);
    });
  }

  async #patch(key: string, body: object, fieldManager: string): Promise<void> {
    const { apps, batch } = this.#cluster;
    const { kind, where } = this.#place(key);
    const request = { ...where, body, fieldManager };
    await patiently(async () => {
      if (kind === 'Deployment') await apps.patchNamespacedDeployment(request, merge);
      else if (kind === 'StatefulSet') await apps.patchNamespacedStatefulSet(request, merge);
      else await batch.patchNamespacedCronJob(request, merge);
    });
  }

  async #set({ key, kind, value }: Row, how: 'scale' | 'edit'): Promise<void> {
    const { apps } = this.#cluster;
    if (kind === 'CronJob') return await this.#patch(key, { spec: { suspend: value === 0 } }, 'kubectl-patch');
    if (how === 'edit') return await this.#patch(key, { spec: { replicas: value } }, 'kubectl-edit');
    const request = { ...this.#place(key).where, body: { spec: { replicas: value } }, fieldManager: 'kubectl' };
    await patiently(async () => {
      if (kind === 'Deployment') await apps.patchNamespacedDeploymentScale(request, merge);
      else await apps.patchNamespacedStatefulSetScale(request, merge);
    });
  }

  async #sync({ key, kind }: Row): Promise<void> {
    const { apps, batch } = this.#cluster;
    const { value, where } = this.#place(key);
    const options = { ...where, fieldManager: MANAGERS.gitops, force: true };
    const applied = (apiVersion: string, spec: object) => ({ apiVersion, kind, metadata: where, spec });
    await patiently(async () => {
      if (kind === 'CronJob') {
        const body = applied('batch/v1', { suspend: value === 0 });
        await batch.patchNamespacedCronJob({ ...options, body }, apply);
        return;
      }
      const request = { ...options, body: applied('apps/v1', { replicas: value }) };
      if (kind === 'Deployment') await apps.patchNamespacedDeployment(request, apply);
      else await apps.patchNamespacedStatefulSet(request, apply);
    });
  }
}

function marked(metadata: { annotations?: Record<string, string>; labels?: Record<string, string> } = {}) {
  const { 'exclude-until': _until, ...savedState } = savedStateOf(metadata.annotations);
  return { savedState, label: savedStateOf(metadata.labels)['managed-by'] ?? null };
}

function codeOf(error: unknown): number | null {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : null;
}

/** Asks again while the API server is away. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const code = codeOf(error);
      // Without a code of HTTP nobody has answered.
      const isAway = code === null || code >= 500 || code === 429 || code === 401;
      if (!isAway || Date.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** The same, with the refusal that says that an attempt before, whose answer was lost, has done it. */
async function once(done: 404 | 409, ask: () => Promise<unknown>): Promise<void> {
  await patiently(ask).catch((error: unknown) => {
    if (codeOf(error) !== done) throw error;
  });
}

/** Until the clock is in a later second than that in which a moment is: moments of the API server have whole seconds. */
export async function laterSecond(than: number): Promise<void> {
  await eventually('the next second', () => Math.floor(Date.now() / 1000) > Math.floor(than / 1000));
}
