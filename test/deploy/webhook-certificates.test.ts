/** The certificates of cert-manager, where several controllers have webhooks in the one starter. */
import { expect, it } from 'vitest';
import { rendered } from './rendered.ts';

interface PodSpec {
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

it('are each in a folder of their own, to which the setting of their webhook points', () => {
  const components = ['lights-out', 'memcached', 'node-group'].map((name) => `${name}/webhook-cert-manager`);
  const starter = rendered(components).find(
    ({ kind, metadata }) => `${kind} ${metadata.name}` === 'Deployment headroom-starter',
  );
  if (starter === undefined) throw new Error('the starter is not among what is rendered');
  const { spec } = (starter['spec'] as { readonly template: { readonly spec: PodSpec } }).template;
  const [container] = spec.containers;
  // Kubernetes has one mount at a path: of two, a patch leaves the last.
  const secretAt = new Map(
    container?.volumeMounts.map(({ name, mountPath }) => [
      mountPath,
      spec.volumes.find((volume) => volume.name === name)?.secret?.secretName,
    ]),
  );
  const settings = container?.env.filter(({ name }) => name.endsWith('_WEBHOOK_CERTIFICATE')) ?? [];
  expect(settings.map(({ name, value = '' }) => [name, secretAt.get(value)])).toEqual([
    ['HEADROOM_LIGHTS_OUT_WEBHOOK_CERTIFICATE', 'headroom-lights-out-tls'],
    ['HEADROOM_MEMCACHED_WEBHOOK_CERTIFICATE', 'headroom-memcached-tls'],
    ['HEADROOM_NODE_GROUPS_WEBHOOK_CERTIFICATE', 'headroom-node-group-tls'],
  ]);
});
