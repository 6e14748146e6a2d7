/** Memcacheds as arguments. */
import { memcachedId } from '../../../domain/memcached/target.ts';
import type { TargetForm } from '../controller.ts';
import { EXPECTED, memcachedArgument } from './argument.ts';

// The Kubernetes client takes long to load, so commands that do not need it do not load it.
const objects = async () => await import('./objects.ts');

export const memcachedTarget: TargetForm = {
  argument: 'namespace/name',
  description: 'the Memcached',
  isTarget: (text) => {
    try {
      memcachedArgument(text);
      return true;
    } catch {
      return false;
    }
  },
  expected: EXPECTED,
  workflowId: (cluster, text) => memcachedId({ cluster, ...memcachedArgument(text) }),
  whyNothingRuns: async (loaded, text) => await (await objects()).whyNothingRuns(loaded, memcachedArgument(text)),
  assertExists: async (loaded, text) => {
    const { chosen, readObjects } = await objects();
    chosen(await readObjects(loaded), memcachedArgument(text), loaded.config.kubernetes.clusterName);
  },
};
