/** Argo's Rollouts and KEDA's ScaledJobs on a control plane without their controllers, as far as a schedule sees them. */
import { CustomObjectsApi, type V1ObjectMeta } from '@kubernetes/client-node';
import { MERGE_PATCH } from '../../activities/lights-out/write-object.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { accessOf } from '../kernel/stack/access.ts';

const KINDS = {
  Rollout: { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts' },
  ScaledJob: { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledjobs' },
} as const;
type CustomKind = keyof typeof KINDS;

const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
} as const;

interface CustomWorkload {
  readonly metadata: V1ObjectMeta;
  readonly spec: { readonly replicas?: number };
}

const integer = { type: 'integer', format: 'int32' };
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const SCHEMAS = {
  Rollout: {
    spec: { ...anything, properties: { replicas: integer } },
    // Argo writes the generation that it has seen as text.
    status: {
      type: 'object',
      properties: { observedGeneration: { type: 'string' }, replicas: integer, readyReplicas: integer },
    },
  },
  ScaledJob: { spec: anything, status: anything },
} as const;

function definitionOf(kind: CustomKind): object {
  const { group, version, plural } = KINDS[kind];
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...(kind === 'Rollout' ? { scale } : {}) },
          schema: { openAPIV3Schema: { type: 'object', properties: SCHEMAS[kind] } },
        },
      ],
    },
  };
}

export const SCALED_OBJECTS = { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' } as const;

/** As if KEDA were installed, as far as its definition of ScaledObjects goes. */
export async function defineScaledObjects(custom: CustomObjectsApi): Promise<void> {
  const { group, version, plural } = SCALED_OBJECTS;
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind: 'ScaledObject', listKind: 'ScaledObjectList', plural, singular: 'scaledobject' },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: anything } }],
    },
  };
  // As it is written: the typed client leaves out what a schema has under a name with dashes.
  await custom.createClusterCustomObject({ ...DEFINITIONS, body });
  await eventually('ScaledObjects are served', async () => {
    await custom.listClusterCustomObject(SCALED_OBJECTS);
    return true;
  });
}

export class CustomWorkloads {
  readonly #custom: CustomObjectsApi;

  constructor(adminKubeconfig: string) {
    this.#custom = accessOf(adminKubeconfig).makeApiClient(CustomObjectsApi);
  }

  /** As if Argo Rollouts and KEDA were installed. */
  async define(): Promise<void> {
    for (const kind of ['Rollout', 'ScaledJob'] as const) {
      // As it is written: the typed client leaves out what a schema has under a name with dashes.
      await this.#custom.createClusterCustomObject({ ...DEFINITIONS, body: definitionOf(kind) });
      await eventually(`${kind}s are served`, async () => {
        await this.#custom.listClusterCustomObject(KINDS[kind]);
        return true;
      });
    }
  }

  async create(
    kind: CustomKind,
    namespace: string,
    name: string,
    {
      annotations = {},
      ...spec
    }: { readonly annotations?: Readonly<Record<string, string>>; readonly replicas?: number },
  ): Promise<void> {
    const resources = { requests: { cpu: '100m', memory: '128Mi' } };
    const template = { spec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources }] } };
    const { group, version } = KINDS[kind];
    const body = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name, annotations },
      spec: { ...spec, template },
    };
    await this.#custom.createNamespacedCustomObject({
      ...KINDS[kind],
      namespace,
      body,
      fieldManager: 'kubectl-create',
    });
  }

  async read(kind: CustomKind, namespace: string, name: string): Promise<CustomWorkload> {
    return (await this.#custom.getNamespacedCustomObject({ ...KINDS[kind], namespace, name })) as CustomWorkload;
  }

  async patch(kind: CustomKind, namespace: string, name: string, body: object): Promise<void> {
    const request = { ...KINDS[kind], namespace, name, body, fieldManager: 'kubectl-edit' };
    await this.#custom.patchNamespacedCustomObject(request, MERGE_PATCH);
  }

  /** As Argo's controller reports it when all pods are ready. */
  async makeReady(namespace: string, name: string): Promise<void> {
    const { metadata, spec } = await this.read('Rollout', namespace, name);
    const { replicas = 1 } = spec;
    const status = { observedGeneration: String(metadata.generation), replicas, readyReplicas: replicas };
    await this.#custom.patchNamespacedCustomObjectStatus(
      { ...KINDS.Rollout, namespace, name, body: { status } },
      MERGE_PATCH,
    );
  }
}
