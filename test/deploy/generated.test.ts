/** The manifests that are made from the code are those of deploy/. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Definition } from '../../platform/kubernetes/access.ts';
import { manifestFiles } from '../../tools/manifests/manifest-files.ts';
import { rendered } from './rendered.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const files = [...manifestFiles()];

describe('the manifests of roles and custom resources', () => {
  it.each(files)('%s is as the code has it today (npm run manifests)', (path, text) => {
    expect(readFileSync(`${DEPLOY}${path}`, 'utf8')).toBe(text);
  });

  it('are all written from the code', () => {
    expect(
      globSync(['**/{rbac,write-policy}.yaml', 'definitions/!(kustomization).yaml'], { cwd: DEPLOY }).toSorted(),
    ).toEqual(files.map(([path]) => path).toSorted());
  });

  it.each(files.map(([path]) => path))('%s is applied with its component', (path) => {
    const [file = '', ...folders] = path.split('/').toReversed();
    const kustomization = readFileSync(`${DEPLOY}${[...folders.toReversed(), 'kustomization.yaml'].join('/')}`, 'utf8');
    expect((parse(kustomization) as { resources: readonly string[] }).resources).toContain(file);
  });

  it('keep the definitions in the cluster, whoever prunes', () => {
    const definitions = files
      .filter(([path]) => path.startsWith('definitions/'))
      .flatMap(([, text]) => parseAllDocuments(text).map((document) => document.toJS() as Definition));
    expect(definitions.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['CustomResourceDefinition', 'lightsoutschedules.lightsout.techsupport.mk'],
      ['CustomResourceDefinition', 'memcacheds.memcached.c5c3.io'],
      ['CustomResourceDefinition', 'nodegroups.autoscaler.vpsie.com'],
      ['CustomResourceDefinition', 'vpsienodes.autoscaler.vpsie.com'],
    ]);
    for (const { metadata } of definitions) {
      expect(metadata.annotations).toEqual({
        'helm.sh/resource-policy': 'keep',
        'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
        'kustomize.toolkit.fluxcd.io/prune': 'disabled',
      });
    }
  });

  it('leave the definitions out of everything that is switched on and off', () => {
    const folders = globSync('**/kustomization.yaml', { cwd: DEPLOY }).map((path) =>
      path.replace(/\/?kustomization.yaml$/, ''),
    );
    for (const folder of folders.filter((path) => path !== 'definitions')) {
      const kinds = rendered(folder === '' ? [] : [folder]).map(({ kind }) => kind);
      expect([folder, kinds.includes('CustomResourceDefinition')]).toEqual([folder, false]);
    }
  });
});
