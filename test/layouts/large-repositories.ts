/** Repositories of the size and the form that platforms keep, always the same for the same size. */
import { manifest } from './generate.ts';
import type { Files } from './tree.ts';

/** How many quotas each repository has, and how many files the first one has: those of two public repositories. */
export const PLAIN_QUOTAS = 1_451;
const PLAIN_FILES = 21_714;
export const OVERLAY_NAMESPACES = 100;

const CLUSTER = 'namespaces/live.platform.example.org';

/**
 * A folder for each namespace below that of the cluster, with plain manifests and with modules of another tool.
 *
 * @param size 1 is the size of the public repository.
 */
export function plainRepository(size = 1): Files {
  const files: Record<string, string> = {};
  const quotas = Math.round(PLAIN_QUOTAS * size);
  for (let index = 0; index < quotas; index += 1) {
    const environment = ['dev', 'staging', 'prod'][index % 3] ?? 'dev';
    const namespace = `service-${Math.floor(index / 3)}-${environment}`;
    const folder = `${CLUSTER}/${namespace}`;
    files[`${folder}/00-namespace.yaml`] =
      `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}\n  labels:\n    environment: ${environment}\n`;
    files[`${folder}/01-rbac.yaml`] = role(namespace);
    files[`${folder}/02-limitrange.yaml`] =
      `apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: limitrange\n  namespace: ${namespace}\nspec:\n  limits:\n    - default: {cpu: 500m, memory: 512Mi}\n      type: Container\n`;
    files[`${folder}/03-resourcequota.yaml`] = manifest(namespace, 'namespace-quota', [['pods', `${index + 1}`]]);
    files[`${folder}/04-networkpolicy.yaml`] =
      `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: default\n  namespace: ${namespace}\nspec:\n  podSelector: {}\n`;
  }
  const modules = Math.round(PLAIN_FILES * size) - Object.keys(files).length;
  for (let index = 0; index < modules; index += 1) {
    const namespace = `service-${Math.floor((index % quotas) / 3)}-${['dev', 'staging', 'prod'][(index % quotas) % 3] ?? ''}`;
    files[`${CLUSTER}/${namespace}/resources/module-${Math.floor(index / quotas)}.tf`] =
      `module "m${index}" {\n  source = "./modules"\n}\n`;
  }
  return files;
}

function role(namespace: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: admin\n  namespace: ${namespace}\nroleRef:\n  kind: ClusterRole\n  name: admin\n  apiGroup: rbac.authorization.k8s.io\n`;
}

/**
 * One Argo CD Application that applies an overlay with all namespaces of another folder; four of five have a quota of a
 * component that they share, the others one of their own. Another overlay, of which nothing says who applies it, has some
 * of the same namespaces.
 */
export function overlayRepository(namespaces = OVERLAY_NAMESPACES): Files {
  const names = Array.from({ length: namespaces }, (_, index) => `project-${index}`);
  const files: Record<string, string> = {
    'argocd/applications/cluster-resources.yaml':
      'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: cluster-resources}\nspec:\n  source: {repoURL: https://git.example/platform, path: cluster-scope/overlays/prod/emea/live, targetRevision: HEAD}\n  destination: {name: live}\n',
    'cluster-scope/overlays/prod/emea/live/kustomization.yaml': `resources:\n${names.map((name) => `- ../../../../base/namespaces/${name}\n`).join('')}- clusterversion.yaml\n`,
    'cluster-scope/overlays/prod/emea/live/clusterversion.yaml':
      'apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\n',
    'cluster-scope/overlays/prod/emea/spare/kustomization.yaml': `resources:\n${names
      .filter((_name, index) => index % 10 === 0)
      .map((name) => `- ../../../../base/namespaces/${name}\n`)
      .join('')}`,
  };
  for (const size of ['small', 'large']) {
    files[`cluster-scope/components/resourcequotas/${size}/kustomization.yaml`] =
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n- resourcequota.yaml\n';
    files[`cluster-scope/components/resourcequotas/${size}/resourcequota.yaml`] = manifest(undefined, size, [
      ['limits.cpu', size === 'small' ? '1' : '4'],
      ['limits.memory', size === 'small' ? '2Gi' : '16Gi'],
    ]);
  }
  for (const [index, name] of names.entries()) {
    const folder = `cluster-scope/base/namespaces/${name}`;
    const own = index % 5 === 4;
    files[`${folder}/namespace.yaml`] = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
    files[`${folder}/rolebinding.yaml`] = role(name);
    if (index % 2 === 0) files[`${folder}/networkpolicy.yaml`] = role(name).replace('RoleBinding', 'NetworkPolicy');
    if (own) files[`${folder}/resourcequota.yaml`] = manifest(undefined, 'custom', [['limits.cpu', `${index}`]]);
    const resources = [
      'namespace',
      'rolebinding',
      ...(index % 2 === 0 ? ['networkpolicy'] : []),
      ...(own ? ['resourcequota'] : []),
    ];
    files[`${folder}/kustomization.yaml`] =
      `namespace: ${name}\nresources:\n${resources.map((resource) => `- ${resource}.yaml\n`).join('')}${own ? '' : `components:\n- ../../../components/resourcequotas/${index % 2 === 0 ? 'small' : 'large'}\n`}`;
  }
  return files;
}
