/** Checkouts of any size with quotas in every layout mixed, always the same for the same seed. */
import { seededRandom } from '../chaos/random.ts';
import type { Files } from './tree.ts';

/** A quota that was generated, and what its first limit is. */
interface GeneratedQuota {
  readonly namespace: string;
  readonly name: string;
  readonly shape: string;
  readonly limits: Readonly<Record<string, string>>;
  /** A raise is a new patch in the overlay, because the value is shared: no line is taken away. */
  readonly patched: boolean;
}

export interface GeneratedCheckout {
  readonly files: Files;
  readonly quotas: readonly GeneratedQuota[];
}

interface Made {
  readonly files: Files;
  readonly patched?: boolean;
}

type Shape = (folder: string, namespace: string, name: string, limits: readonly (readonly [string, string])[]) => Made;

export const manifest = (
  namespace: string | undefined,
  name: string,
  limits: readonly (readonly [string, string])[],
  print: (value: string) => string = (value) => `"${value}"`,
): string =>
  [
    'apiVersion: v1',
    'kind: ResourceQuota',
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    'spec:',
    '  hard:',
    ...limits.map(([key, value]) => `    ${key}: ${print(value)}`),
    '',
  ].join('\n');

const shapes: Readonly<Record<string, Shape>> = {
  plain: (folder, namespace, name, limits) => ({
    files: { [`${folder}/10-quota.yaml`]: manifest(namespace, name, limits) },
  }),
  'CRLF, without a last line end': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/quota.yaml`]: manifest(namespace, name, limits, (value) => `${value} # see`)
        .trimEnd()
        .replaceAll('\n', '\r\n'),
    },
  }),
  'several documents': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/all.yaml`]: `# first\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n---\n${manifest(namespace, name, limits, (value) => `'${value}'`)}---\n${manifest(namespace, `${name}-best-effort`, [['pods', '5']])}`,
    },
  }),
  list: (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/list.yml`]: `apiVersion: v1\nkind: List\nitems:\n- ${manifest(namespace, name, limits).trimEnd().replaceAll('\n', '\n  ')}\n`,
    },
  }),
  json: (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/quota.json`]: `${JSON.stringify({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name, namespace }, spec: { hard: Object.fromEntries(limits) } }, null, '\t')}\n`,
    },
  }),
  'an alias': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/quota.yaml`]: manifest(namespace, name, limits, () => '*size').replace(
        'metadata:\n',
        `metadata:\n  annotations: {size: &size "${limits[0]?.[1] ?? ''}"}\n`,
      ),
    },
  }),
  'a kustomization of its own': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/kustomization.yaml`]: `namespace: ${namespace}\nresources:\n  - ./quota.yaml\n`,
      [`${folder}/quota.yaml`]: manifest(undefined, name, limits),
    },
  }),
  'a shared base': (folder, namespace) => ({
    files: { [`${folder}/kustomization.yaml`]: `namespace: ${namespace}\nresources:\n- ../../base\n` },
    patched: true,
  }),
  'a patch file': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/kustomization.yaml`]: `namespace: ${namespace}\nresources:\n- ../../base\npatches:\n- path: patch.yaml\n`,
      [`${folder}/patch.yaml`]: manifest(undefined, name, limits),
    },
  }),
  'an inline patch': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/kustomization.yaml`]: `namespace: ${namespace}\nresources:\n- ../../base\npatches:\n- patch: |-\n    ${manifest(undefined, name, limits).trimEnd().replaceAll('\n', '\n    ')}\n`,
    },
  }),
  'a JSON patch': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/kustomization.yaml`]: `namespace: ${namespace}\nresources:\n- ../../base\npatches:\n- target: {kind: ResourceQuota, name: ${name}}\n  path: patch.yaml\n`,
      [`${folder}/patch.yaml`]: limits
        .map(([key, value]) => `- op: replace\n  path: /spec/hard/${key}\n  value: "${value}"\n`)
        .join(''),
    },
  }),
  'a chart': (folder, namespace, name, limits) => ({
    files: {
      [`${folder}/Chart.yaml`]: 'apiVersion: v2\nname: quota\nversion: 1.0.0\n',
      [`${folder}/templates/quota.yaml`]: `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n  namespace: {{ .Values.namespace }}\nspec:\n  hard:\n    {{- toYaml .Values.namespaceQuotas | nindent 4 }}\n`,
      [`${folder}/values.yaml`]: `namespace: ${namespace}\nnamespaceQuotas:\n${limits.map(([key, value]) => `  ${key}: ${value} # agreed\n`).join('')}`,
    },
  }),
};

export const shapeNames = Object.keys(shapes);

/** Folder names that git has to quote, among ordinary ones. */
const DECORATIONS = ['', '', ' and space', '-ünï', '-"quoted"'];

/**
 * @param options.quotas one a namespace.
 * @param options.others files that hold no quota.
 */
export function generateCheckout(
  seed: number,
  options: { readonly quotas: number; readonly others: number },
): GeneratedCheckout {
  const random = seededRandom(seed);
  const files: Record<string, string> = {
    'base/kustomization.yaml': 'resources:\n- quota.yaml\n',
    'base/quota.yaml': manifest(undefined, 'compute', [
      ['requests.cpu', '4'],
      ['pods', '20'],
    ]),
  };
  const quotas: GeneratedQuota[] = [];
  for (let index = 0; index < options.quotas; index += 1) {
    const shape = shapeNames[index % shapeNames.length] ?? 'plain';
    const namespace = `team-${index}`;
    const limits =
      shape === 'a shared base'
        ? ([
            ['requests.cpu', '4'],
            ['pods', '20'],
          ] as const)
        : ([
            ['requests.cpu', shape === 'an alias' ? '2' : random.pick(['1', '2500m', '8'])],
            ['pods', shape === 'an alias' ? '2' : `${random.between(1, 50)}`],
          ] as const);
    const made = shapes[shape]?.(`namespaces/${namespace}${random.pick(DECORATIONS)}`, namespace, 'compute', limits);
    Object.assign(files, made?.files);
    quotas.push({
      namespace,
      name: 'compute',
      shape,
      limits: Object.fromEntries(limits),
      patched: made?.patched ?? false,
    });
  }
  for (let index = 0; index < options.others; index += 1) {
    const folder = `apps/app-${index % 500}/part-${Math.floor(index / 500)}`;
    files[`${folder}/deployment-${index}.yaml`] =
      `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-${index}\nspec:\n  replicas: ${index % 7}\n  template:\n    spec:\n      containers:\n        - name: main\n          image: registry.example/app:${index}\n`;
  }
  return { files, quotas };
}
