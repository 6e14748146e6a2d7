import {
  AppsV1Api,
  AuthenticationV1Api,
  AutoscalingV2Api,
  BatchV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  NodeV1Api,
  ResourceV1Api,
  SchedulingV1Api,
  StorageV1Api,
} from '@kubernetes/client-node';

/** The parts of the Kubernetes API that activities use, of one cluster and one user. */
export interface Kubernetes {
  readonly core: CoreV1Api;
  readonly custom: CustomObjectsApi;
  readonly apps: AppsV1Api;
  readonly authentication: AuthenticationV1Api;
  readonly autoscaling: AutoscalingV2Api;
  readonly batch: BatchV1Api;
  readonly coordination: CoordinationV1Api;
  readonly node: NodeV1Api;
  readonly resource: ResourceV1Api;
  readonly scheduling: SchedulingV1Api;
  readonly storage: StorageV1Api;
}

/**
 * API clients for the current context. Timeouts, kept connections and rotated credentials come from the configuration:
 * pass the process's one and not a new one of the client library.
 */
export function connectKubernetes(config: KubeConfig): Kubernetes {
  return {
    core: config.makeApiClient(CoreV1Api),
    custom: config.makeApiClient(CustomObjectsApi),
    apps: config.makeApiClient(AppsV1Api),
    authentication: config.makeApiClient(AuthenticationV1Api),
    autoscaling: config.makeApiClient(AutoscalingV2Api),
    batch: config.makeApiClient(BatchV1Api),
    coordination: config.makeApiClient(CoordinationV1Api),
    node: config.makeApiClient(NodeV1Api),
    resource: config.makeApiClient(ResourceV1Api),
    scheduling: config.makeApiClient(SchedulingV1Api),
    storage: config.makeApiClient(StorageV1Api),
  };
}
