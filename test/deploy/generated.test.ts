/** What of deploy/ is made from the code is as the code has it. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Definition } from '../../platform/kubernetes/access.ts';
import { manifestFiles } from '../../tools/manifests/manifest-files.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const files = [...manifestFiles()];

describe('the roles, policies, rules, dashboards and schema of the chart, and the custom resources', () => {
  it.each(files)('%s is as the code has it today (npm run manifests)', (path, text) => {
    expect(readFileSync(`${DEPLOY}${path}`, 'utf8')).toBe(text);
  });

  it('are all written from the code', () => {
    const written = [
      'chart/templates/**/*rbac.yaml',
      'chart/templates/write-policy.yaml',
      'chart/templates/monitoring/{rules,dashboards}.yaml',
      'chart/files/monitoring/**/*.*',
      'chart/values.schema.json',
    ];
    expect(globSync([...written, 'chart-crds/definitions/!(kustomization).yaml'], { cwd: DEPLOY }).toSorted()).toEqual(
      files.map(([path]) => path).toSorted(),
    );
  });

  it('keep the definitions in the cluster, whoever prunes', () => {
    const definitions = files
      .filter(([path]) => path.startsWith('chart-crds/'))
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

  it('each have a switch in the chart of definitions, and a place in its kustomization', () => {
    const of = (file: string) => parse(readFileSync(`${DEPLOY}chart-crds/${file}`, 'utf8')) as Record<string, unknown>;
    const names = files.flatMap(([path]) => /^chart-crds\/definitions\/(.*)\.yaml$/.exec(path)?.[1] ?? []);
    expect(of('values.yaml')['definitions']).toEqual(Object.fromEntries(names.map((name) => [name, true])));
    expect(of('definitions/kustomization.yaml')['resources']).toEqual(names.map((name) => `${name}.yaml`));
  });
});
