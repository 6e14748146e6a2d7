/** A custom resource with a scale subresource, and an operator that gives its number to a Deployment, whoever wrote another one there. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiException,
  AppsV1Api,
  CustomObjectsApi,
  PatchStrategy,
  setHeaderOptions,
  type V1Deployment,
} from '@kubernetes/client-node';
import { MERGE_PATCH } from '../../activities/lights-out/write-object.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';

export const WIDGETS = { group: 'example.com', version: 'v1', plural: 'widgets' } as const;
export const WIDGET_DEFINITION = `${WIDGETS.plural}.${WIDGETS.group}`;
const KIND = 'Widget';
const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' } as const;
const SCALE = { specReplicasPath: '.spec.server.size', statusReplicasPath: '.status.replicas' } as const;

interface WidgetSpec {
  readonly server: { readonly size?: number };
  /** Pods for each of `size`: with more than one it is no number of replicas. */
  readonly podsEach?: number;
  /** What has no replicas is deleted. */
  readonly deletesAtZero?: boolean;
  /** Nothing of it is done. */
  readonly isIgnored?: boolean;
  /** Deployments besides, with the same number. */
  readonly twins?: number;
}

interface Widget {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: WidgetSpec;
}

export class Widgets {
  readonly #custom: CustomObjectsApi;
  readonly #apps: AppsV1Api;
  readonly #applied = new Map<string, number>();
  readonly #over = new AbortController();
  #running = Promise.resolve();
  /** Deployments whose number somebody else had changed, by the name of the widget. */
  readonly fought: string[] = [];

  constructor(adminKubeconfig: string) {
    const config = accessOf(adminKubeconfig);
    this.#custom = config.makeApiClient(CustomObjectsApi);
    this.#apps = config.makeApiClient(AppsV1Api);
  }

  async define(): Promise<void> {
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const size = { type: 'integer', format: 'int32', minimum: 0 };
    const server = { type: 'object', properties: { size } };
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: WIDGET_DEFINITION },
      spec: {
        group: WIDGETS.group,
        names: { kind: KIND, listKind: `${KIND}List`, plural: WIDGETS.plural, singular: 'widget' },
        scope: 'Namespaced',
        versions: [
          {
            name: WIDGETS.version,
            served: true,
            storage: true,
            subresources: { status: {}, scale: SCALE },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { ...anything, properties: { server } }, status: anything },
              },
            },
          },
        ],
      },
    };
    await this.#custom.createClusterCustomObject({ ...DEFINITIONS, body });
    await eventually('Widgets are served', async () => {
      await this.#custom.listClusterCustomObject(WIDGETS);
      return true;
    });
  }

  /** Whether the definition has a scale subresource. */
  async offerScale(isOffered: boolean): Promise<void> {
    const path = '/spec/versions/0/subresources/scale';
    const body = [isOffered ? { op: 'add', path, value: SCALE } : { op: 'remove', path }];
    await this.#custom.patchClusterCustomObject(
      { ...DEFINITIONS, name: WIDGET_DEFINITION, body },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    );
  }

  async create(namespace: string, name: string, size: number, spec: Partial<WidgetSpec> = {}): Promise<void> {
    const body = {
      apiVersion: `${WIDGETS.group}/${WIDGETS.version}`,
      kind: KIND,
      metadata: { name },
      spec: { server: { size }, ...spec },
    };
    await this.#custom.createNamespacedCustomObject({ ...WIDGETS, namespace, body, fieldManager: 'kubectl-create' });
  }

  async read(namespace: string, name: string): Promise<Widget> {
    return (await this.#custom.getNamespacedCustomObject({ ...WIDGETS, namespace, name })) as Widget;
  }

  async size(namespace: string, name: string): Promise<number | undefined> {
    return (await this.read(namespace, name)).spec.server.size;
  }

  /** As `kubectl scale` does. */
  async scale(namespace: string, name: string, replicas: number, fieldManager = 'kubectl'): Promise<void> {
    const request = { ...WIDGETS, namespace, name, body: { spec: { replicas } }, fieldManager };
    await this.#custom.patchNamespacedCustomObjectScale(request, MERGE_PATCH);
  }

  async patch(
    namespace: string,
    name: string,
    spec: Partial<WidgetSpec>,
    fieldManager = 'kubectl-edit',
  ): Promise<void> {
    const request = { ...WIDGETS, namespace, name, body: { spec }, fieldManager };
    await this.#custom.patchNamespacedCustomObject(request, MERGE_PATCH);
  }

  start(): void {
    this.#running = this.#reconcile();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #reconcile(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      for (const widget of await this.#listed()) await this.#reconcileOne(widget);
      await sleep(100, undefined, { signal }).catch(() => {});
    }
  }

  /** None while the API server takes up a definition that has changed. */
  async #listed(): Promise<readonly Widget[]> {
    try {
      return ((await this.#custom.listClusterCustomObject(WIDGETS)) as { readonly items: readonly Widget[] }).items;
    } catch (error) {
      if (error instanceof ApiException && error.code === 429) return [];
      throw error;
    }
  }

  async #reconcileOne(widget: Widget): Promise<void> {
    const { metadata, spec } = widget;
    const { server, podsEach = 1, deletesAtZero = false, isIgnored = false, twins = 0 } = spec;
    if (isIgnored) return;
    const replicas = (server.size ?? 1) * podsEach;
    const { namespace } = metadata;
    const names = [metadata.name, ...Array.from({ length: twins }, (_, at) => `${metadata.name}-${at + 1}`)];
    for (const name of names) {
      const found = await this.#found(namespace, name);
      if (deletesAtZero && replicas === 0) {
        if (found !== null) await this.#apps.deleteNamespacedDeployment({ namespace, name });
        continue;
      }
      if (found === null) await this.#create(widget, name, replicas);
      else if (found.spec?.replicas !== replicas) {
        if (this.#applied.get(`${namespace}/${name}`) === replicas) this.fought.push(`${namespace}/${name}`);
        const request = { namespace, name, body: { spec: { replicas } }, fieldManager: 'widget-operator' };
        await this.#apps.patchNamespacedDeployment(request, MERGE_PATCH);
      }
      this.#applied.set(`${namespace}/${name}`, replicas);
    }
  }

  async #found(namespace: string, name: string): Promise<V1Deployment | null> {
    try {
      return await this.#apps.readNamespacedDeployment({ namespace, name });
    } catch (error) {
      if (error instanceof ApiException && error.code === 404) return null;
      throw error;
    }
  }

  async #create({ metadata }: Widget, name: string, replicas: number): Promise<void> {
    const owner = {
      apiVersion: `${WIDGETS.group}/${WIDGETS.version}`,
      kind: KIND,
      name: metadata.name,
      uid: metadata.uid,
    };
    const labels = { app: name };
    const containers = [{ name: 'main', image: 'registry.example/app:1' }];
    await this.#apps.createNamespacedDeployment({
      namespace: metadata.namespace,
      fieldManager: 'widget-operator',
      body: {
        metadata: { name, ownerReferences: [{ ...owner, controller: true }] },
        spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      },
    });
  }
}
