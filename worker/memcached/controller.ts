import { createMemcachedActivities } from '../../activities/memcached/kubernetes-activities.ts';
import type { MemcachedActivities } from '../../activities/memcached/interface.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { memcachedDefinition } from '../../domain/memcached/api/definition.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { memcachedAccess } from './access.ts';

export const memcachedController: WorkerController = {
  workflowTypes: ['memcached'],
  access: memcachedAccess,
  customResources: [
    {
      component: 'memcached',
      about:
        'Memcacheds. It is the definition of the first implementation, and may be applied over it. Deleting the definition deletes every Memcached with its pods.',
      definition: memcachedDefinition,
    },
  ],
  isEnabled: ({ memcached }) => memcached.enabled,
  createActivities,
};

function createActivities({ config, kubeConfig, pauses, log }: ControllerContext): MemcachedActivities {
  return createMemcachedActivities({
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace: config.kubernetes.systemNamespace,
    formerNamespace: config.memcached.formerNamespace,
    pauses,
    log,
  });
}
