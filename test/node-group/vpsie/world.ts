/** VPSie, a cluster with VPSieNodes, and processes that ask for machines. */
import { readFile } from 'node:fs/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { MachineRequest, NodeProvider } from '../../../activities/node-group/provider/provider.ts';
import type { VpsieOptions } from '../../../activities/node-group/provider/vpsie/options.ts';
import { createVpsieProvider } from '../../../activities/node-group/provider/vpsie/vpsie-provider.ts';
import { connectKubernetes, type Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { orNull } from '../../../activities/kubernetes/failure.ts';
import { machineBody, readMachine } from '../../../domain/node-group/api/machine.ts';
import { GROUP, MACHINE_PLURAL, NAMESPACE, VERSION } from '../../../domain/node-group/api/names.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { fieldsOf } from '../../../domain/node-group/scheduling/read-pod.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyObjects, readManifests } from '../../kernel/stack/manifests.ts';
import { groupOf } from '../provider/group.ts';
import type { Mortal } from '../provider/mortal.ts';
import { CREDENTIALS, VpsieServer, type VpsieServerOptions } from './server.ts';

const MACHINES = { group: GROUP, version: VERSION, plural: MACHINE_PLURAL, namespace: NAMESPACE } as const;
const LEASE = 'node-group-creation';

/** Short, in the same order as in operation. */
const TIMES = {
  requestMs: 400,
  startMs: 400,
  settleMs: 1_200,
  acceptedMs: 1_200,
  othersMs: 100,
  lookMs: 50,
  callMs: 5_000,
  requestsPerMinute: 100_000,
};

/** For what is counted: on a slow machine nothing is asked again because it came too late. */
export const UNHURRIED = { ...TIMES, requestMs: 60_000, startMs: 60_000, callMs: 60_000 };

/** A cluster for the tests of a file; `fresh` makes VPSie anew for each. */
export class VpsieWorld {
  readonly #config: KubeConfig;
  readonly #kubernetes: Kubernetes;
  readonly #systemNamespace: string;
  #server: VpsieServer | undefined;

  private constructor(config: KubeConfig, systemNamespace: string) {
    this.#config = config;
    this.#kubernetes = connectKubernetes(config);
    this.#systemNamespace = systemNamespace;
  }

  /** @param systemNamespace used by no other file; it is created. */
  static async open(adminKubeconfig: string, systemNamespace: string): Promise<VpsieWorld> {
    const crd = new URL('../../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url);
    await applyObjects(adminKubeconfig, readManifests(await readFile(crd, 'utf8')));
    const world = new VpsieWorld(accessOf(adminKubeconfig), systemNamespace);
    await world.#kubernetes.core.createNamespace({ body: { metadata: { name: systemNamespace } } });
    await eventually('VPSieNodes are served', async () => {
      await world.#kubernetes.custom.listNamespacedCustomObject(MACHINES);
      return true;
    });
    return world;
  }

  get server(): VpsieServer {
    if (this.#server === undefined) throw new Error('VPSie was not started');
    return this.#server;
  }

  /** Everything as at the beginning, and another VPSie. */
  async fresh(options: Omit<VpsieServerOptions, 'core'> = {}): Promise<void> {
    const { core, custom, coordination } = this.#kubernetes;
    await this.stop();
    await custom.deleteCollectionNamespacedCustomObject(MACHINES);
    await orNull(coordination.deleteNamespacedLease({ namespace: this.#systemNamespace, name: LEASE }));
    await core.deleteCollectionNode();
    this.#server = await VpsieServer.start({ ...options, core });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  group(name = 'contract'): NodeGroup {
    const { cluster, datacenter } = this.server.account;
    return groupOf('vpsie', name, {
      datacenterID: datacenter,
      resourceIdentifier: cluster,
      project: 'project',
      kubernetesVersion: 'v1.34.1',
      kubeSizeID: 21,
    });
  }

  /** The provider as a new process has it. */
  connect(process: Mortal, options: Partial<VpsieOptions> = {}): NodeProvider {
    const { core, custom, coordination, ...rest } = connectKubernetes(this.#config);
    return createVpsieProvider({
      kubernetes: {
        ...rest,
        core: process.client(core),
        custom: process.client(custom),
        coordination: process.client(coordination),
      },
      systemNamespace: this.#systemNamespace,
      vpsie: {
        baseUrl: this.server.baseUrl,
        readSecret: () => Promise.resolve({ clientId: CREDENTIALS.clientId, clientSecret: CREDENTIALS.clientSecret }),
        times: TIMES,
        fetch: process.fetch,
        ...options,
      },
    });
  }

  /** Creates the VPSieNodes of machines. */
  async record(names: readonly string[], group: NodeGroup = this.group()): Promise<readonly MachineRequest[]> {
    const instanceType = 'small';
    return await Promise.all(
      names.map(async (name) => {
        const made = machineBody(group, {
          name,
          instanceType,
          decision: 'test',
          cameFor: [],
          replaces: null,
          reason: 'PendingPods',
        });
        const { finalizers: _, ...metadata } = made.metadata;
        const body = { ...made, metadata };
        const { uid } = readMachine(await this.#kubernetes.custom.createNamespacedCustomObject({ ...MACHINES, body }));
        return { name, uid, instanceType };
      }),
    );
  }

  /** VPSie's identifier on a VPSieNode. */
  async identifierOf(name: string): Promise<string | null> {
    return readMachine(await this.#kubernetes.custom.getNamespacedCustomObject({ ...MACHINES, name })).providerId;
  }

  /** The name that its Node will have, as its VPSieNode says it. */
  async hostnameOf(name: string): Promise<unknown> {
    const object: unknown = await this.#kubernetes.custom.getNamespacedCustomObject({ ...MACHINES, name });
    return fieldsOf(fieldsOf(object)['spec'])['nodeName'];
  }

  async removeObject(name: string): Promise<void> {
    await this.#kubernetes.custom.deleteNamespacedCustomObject({ ...MACHINES, name });
  }

  /** Who holds the Lease of the one request; null where nobody does. */
  async holder(): Promise<string | null> {
    const name = { namespace: this.#systemNamespace, name: LEASE };
    const lease = await orNull(this.#kubernetes.coordination.readNamespacedLease(name));
    return lease?.spec?.holderIdentity || null;
  }
}
