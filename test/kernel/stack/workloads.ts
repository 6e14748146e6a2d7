import type { AppsV1Api, CoreV1Api, V1Deployment } from '@kubernetes/client-node';

export interface DeploymentOptions {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly requests: Readonly<Record<string, string>>;
}

/** Creates a Deployment of pods that request this much each. There are no nodes: pods count against the quota all the same. */
export async function createDeployment(apps: AppsV1Api, options: DeploymentOptions): Promise<V1Deployment> {
  const labels = { app: options.name };
  return await apps.createNamespacedDeployment({
    namespace: options.namespace,
    body: {
      metadata: { name: options.name, labels },
      spec: {
        replicas: options.replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              { name: 'app', image: 'registry.example/app:1', resources: { requests: { ...options.requests } } },
            ],
          },
        },
      },
    },
  });
}

/** How many pods of a namespace exist. */
export async function podCount(core: CoreV1Api, namespace: string): Promise<number> {
  return (await core.listNamespacedPod({ namespace })).items.length;
}

/** spec.hard of a quota, as the cluster has it. */
export async function hardOf(core: CoreV1Api, namespace: string, quota: string): Promise<Record<string, string>> {
  return (await core.readNamespacedResourceQuota({ namespace, name: quota })).spec?.hard ?? {};
}
