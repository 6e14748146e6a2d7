/** The manifests of deploy/ that are written from the code: roles, the policy of what is written, and definitions of custom resources. */
import { stringify } from 'yaml';
import type { Access } from '../../platform/kubernetes/access.ts';
import { starterAccess } from '../../starter/access.ts';
import { controllers as starterControllers } from '../../starter/registry.ts';
import { workerAccess } from '../../worker/access.ts';
import { controllers as workerControllers } from '../../worker/registry.ts';
import { comment } from './comment.ts';
import { type ProcessAccess, rbacManifest } from './rbac.ts';
import { writePolicyManifest } from './write-policy.ts';

/** Each file with its text, by its path below deploy/. */
export function manifestFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...rbacFiles(),
    ['write-policy.yaml', `${comment(HEADER)}${writePolicyManifest(all)}`],
    ...definitionFiles(),
  ]);
}

const HEADER = 'Written by `npm run manifests` from worker/ and starter/ (access.ts in each): change those.';

const all: readonly ProcessAccess[] = [
  ...accessOf('worker', workerAccess, workerControllers),
  ...accessOf('starter', starterAccess, starterControllers),
];

function rbacFiles(): readonly (readonly [path: string, text: string])[] {
  return [...Map.groupBy(all, ({ access }) => access.component)].map(
    ([component, accesses]) =>
      [pathOf(component, 'rbac.yaml'), `${comment(HEADER)}${rbacManifest(component, accesses)}`] as const,
  );
}

function accessOf(
  process: ProcessAccess['process'],
  ofProcess: Access,
  controllers: Readonly<Record<string, { readonly access: readonly Access[] }>>,
): readonly ProcessAccess[] {
  return [
    { process, controller: null, access: ofProcess },
    ...Object.entries(controllers).flatMap(([controller, { access }]) =>
      access.map((granted) => ({ process, controller, access: granted })),
    ),
  ];
}

function definitionFiles(): readonly (readonly [path: string, text: string])[] {
  const header = 'Written by `npm run manifests` from the types of the code: change those.';
  const resources = Object.values(workerControllers).flatMap(({ customResources = [] }) => customResources);
  return [...Map.groupBy(resources, ({ component }) => component)].map(([component, own]) => {
    const abouts = own.map(({ about }) => about).join('\n\n');
    const texts = own.map(({ definition }) => stringify(definition(), { lineWidth: 0, aliasDuplicateObjects: false }));
    return [pathOf(component, 'crd.yaml'), `${comment(`${header}\n\n${abouts}`)}${texts.join('---\n')}`] as const;
  });
}

function pathOf(component: string, file: string): string {
  return component === '' ? file : `${component}/${file}`;
}
