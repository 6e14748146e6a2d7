import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';

/** Where the first implementation has it, and every installation of VPSie's own. */
const SECRET = { namespace: 'kube-system', name: 'vpsie-secret' } as const;

/** Reads the keys of VPSie's Secret with what they hold; `readSecret` of the options. */
export function vpsieSecret({ core }: Pick<Kubernetes, 'core'>, place: { namespace: string; name: string } = SECRET) {
  return async (): Promise<Readonly<Record<string, string>>> => {
    const { data = {} } = await core.readNamespacedSecret(place);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  };
}
