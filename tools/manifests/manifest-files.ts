/** What of deploy/ is written from the code: of the chart roles, the policy of what is written, the schema of its values, rules and dashboards, and the definitions of custom resources. */
import { stringify } from 'yaml';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { Access, Definition } from '../../platform/kubernetes/access.ts';
import { starterAccess } from '../../starter/access.ts';
import { controllers as starterControllers } from '../../starter/registry.ts';
import { workerAccess } from '../../worker/access.ts';
import { controllers as workerControllers } from '../../worker/registry.ts';
import { monitoringFiles } from '../monitoring/chart-files.ts';
import { comment } from './comment.ts';
import { partOfChart } from './parts.ts';
import { type ProcessAccess, rbacTemplate } from './rbac.ts';
import { valuesSchema } from './values-schema.ts';
import { writePolicyManifest } from './write-policy.ts';

/** Each file with its text, by its path below deploy/. */
export function manifestFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...rbacFiles(),
    ['chart/templates/write-policy.yaml', `${comment(HEADER)}${writePolicyManifest(all)}`],
    ['chart/values.schema.json', valuesSchema()],
    ...definitionFiles(),
    ...monitoringFiles(),
  ]);
}

const HEADER = 'Written by `npm run manifests` from worker/ and starter/ (access.ts in each): change those.';

const all: readonly ProcessAccess[] = [
  ...accessOf('worker', [workerAccess], workerControllers),
  ...accessOf('starter', starterAccess, starterControllers),
];

function rbacFiles(): readonly (readonly [path: string, text: string])[] {
  return [...Map.groupBy(all, ({ access }) => access.component)].map(([name, accesses]) => {
    const part = partOfChart(name);
    const text = `${comment(HEADER)}${rbacTemplate(part, accesses)}`;
    const [folder = '', ...of] = name.split('/');
    const path = `chart/templates/${folder === '' ? '' : `${folder}/`}${[...of, 'rbac'].join('-')}.yaml`;
    return [path, part.condition === null ? text : `{{- if ${part.condition} }}\n${text}{{- end }}\n`] as const;
  });
}

function accessOf(
  process: ProcessAccess['process'],
  ofProcess: readonly Access[],
  controllers: Readonly<Record<ControllerName, { readonly access: readonly Access[] }>>,
): readonly ProcessAccess[] {
  return [
    ...ofProcess.map((access) => ({ process, controller: null, access })),
    ...(Object.keys(controllers) as ControllerName[]).flatMap((controller) =>
      controllers[controller].access.map((granted) => ({ process, controller, access: granted })),
    ),
  ];
}

function definitionFiles(): readonly (readonly [path: string, text: string])[] {
  const header = 'Written by `npm run manifests` from the types of the code: change those.';
  const resources = Object.values(workerControllers).flatMap(({ customResources = [] }) => customResources);
  return [...Map.groupBy(resources, ({ component }) => component)].map(([component, own]) => {
    const abouts = own.map(({ about }) => about).join('\n\n');
    const texts = own.map(({ definition }) =>
      stringify(kept(definition()), { lineWidth: 0, aliasDuplicateObjects: false }),
    );
    return [
      `chart-crds/definitions/${component}.yaml`,
      `${comment(`${header}\n\n${abouts}`)}${texts.join('---\n')}`,
    ] as const;
  });
}

/** Who prunes what is not named any more leaves a definition where it is: with it every object of it would be deleted. */
const KEPT = {
  'helm.sh/resource-policy': 'keep',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};

function kept(definition: Definition): Definition {
  const { metadata } = definition;
  return { ...definition, metadata: { ...metadata, annotations: { ...metadata.annotations, ...KEPT } } };
}
