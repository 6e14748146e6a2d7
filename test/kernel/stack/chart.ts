/** What deploy/chart deploys, rendered by the real Helm, for tests, the demo and benchmarks. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { renderChart, SYSTEM_NAMESPACE } from '../../../tools/manifests/render-chart.ts';
import { applyObjects, readManifests } from './manifests.ts';

/** Values as a user would write them; Helm fills in the rest. */
export interface ChartValues {
  readonly processes?: 'together' | 'apart';
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly rights?: {
    readonly countSecrets?: boolean;
    readonly memcachedSecrets?: readonly string[];
    readonly kwokNodes?: boolean;
  };
  readonly overview?: { readonly certificate: string };
  readonly webhooks?: { readonly certificates: 'self' | 'cert-manager' | 'none' };
}

/** Every controller. */
export const EVERYTHING = {
  config: {
    quotaUsage: { mode: 'own' },
    lightsOut: { enabled: true },
    memcached: { enabled: true },
    nodeGroups: { enabled: true },
  },
} as const satisfies ChartValues;

/** And every right that no switch brings along. */
export const EVERY_RIGHT = {
  ...EVERYTHING,
  rights: { countSecrets: true, memcachedSecrets: ['team-a'], kwokNodes: true },
} as const satisfies ChartValues;

/** Of what is deployed, what the API server needs to know of the two accounts. The rest is about pods. */
const OF_ACCOUNTS: ReadonlySet<string | undefined> = new Set([
  'Namespace',
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

/** The users that worker and starter run as where no service account is at hand: `headroom-worker`, `headroom-starter`. */
const ACCOUNTS = `system:serviceaccount:${SYSTEM_NAMESPACE}:`;

const rendered = new Map<string, Promise<string>>();

/** What Helm prints for these values, its namespace included. */
export async function chartText(values: object = {}, namespace = SYSTEM_NAMESPACE): Promise<string> {
  const key = JSON.stringify([values, namespace]);
  const known = rendered.get(key) ?? renderChart({ namespace: { create: true }, ...values }, { namespace });
  rendered.set(key, known);
  return await known;
}

/** The objects of it. */
export async function chartObjects(values?: ChartValues, namespace?: string): Promise<readonly KubernetesObject[]> {
  return readManifests(await chartText(values, namespace));
}

/**
 * The text of templates of the chart, such as `rbac/lights-out`, with every right.
 *
 * @throws Error for a template that renders nothing.
 */
async function templateText(...templates: readonly string[]): Promise<string> {
  const documents = (await chartText(EVERY_RIGHT)).split(/^---\n/m);
  return templates
    .flatMap((template) => {
      const own = documents.filter((text) => text.startsWith(`# Source: headroom/templates/${template}.yaml\n`));
      if (own.length === 0) throw new Error(`the chart renders nothing from templates/${template}.yaml`);
      return own;
    })
    .join('---\n');
}

/** The objects of it. */
export async function templateObjects(...templates: readonly string[]): Promise<readonly KubernetesObject[]> {
  return readManifests(await templateText(...templates));
}

/** What the webhooks of a controller are deployed with, such as those of `lights-out`: objects of these kinds. */
export async function webhookObjects(name: string, ...kinds: readonly string[]): Promise<readonly KubernetesObject[]> {
  const names = [`headroom-${name}`, `headroom-${name}-tls`];
  return (await templateObjects('webhooks')).filter(
    ({ kind = '', metadata }) => kinds.includes(kind) && names.includes(metadata?.name ?? ''),
  );
}

/** The two kinds of webhook configurations. */
export const WEBHOOK_KINDS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const;

/** Gives the two accounts what they are deployed with: roles, and the policies that hold their writes. */
export async function applyRights(adminKubeconfig: string, values?: ChartValues): Promise<void> {
  await applyObjects(adminKubeconfig, ofAccounts(await chartObjects(values)));
}

/** The same for the two users in place of the accounts. */
export async function applyRightsOfUsers(adminKubeconfig: string, values?: ChartValues): Promise<void> {
  const text = (await chartText(values)).replaceAll(ACCOUNTS, '');
  await applyObjects(adminKubeconfig, asUsers(ofAccounts(readManifests(text))));
}

/** Holds the writes of the two accounts, whatever their roles are, or of the two users in place of them. */
export async function applyWritePolicy(adminKubeconfig: string, { ofUsers = false } = {}): Promise<void> {
  const text = await templateText('write-policy');
  await applyObjects(adminKubeconfig, readManifests(ofUsers ? text.replaceAll(ACCOUNTS, '') : text));
}

function ofAccounts(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.filter(({ kind }) => OF_ACCOUNTS.has(kind));
}

interface Binding extends KubernetesObject {
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** Objects with bindings for users in place of service accounts. */
export function asUsers(objects: readonly Binding[]): readonly KubernetesObject[] {
  return objects.map((object) =>
    object.subjects === undefined
      ? object
      : {
          ...object,
          subjects: object.subjects.map(({ name }) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })),
        },
  );
}
