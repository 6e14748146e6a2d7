/** The manifests that are made from the code are those of deploy/. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { manifestFiles } from '../../tools/manifests/manifest-files.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const files = [...manifestFiles()];

describe('the manifests of roles and custom resources', () => {
  it.each(files)('%s is as the code has it today (npm run manifests)', (path, text) => {
    expect(readFileSync(`${DEPLOY}${path}`, 'utf8')).toBe(text);
  });

  it('are all written from the code', () => {
    expect(globSync('**/{rbac,crd,write-policy}.yaml', { cwd: DEPLOY }).toSorted()).toEqual(
      files.map(([path]) => path).toSorted(),
    );
  });

  it.each(files.map(([path]) => path))('%s is applied with its component', (path) => {
    const [file = '', ...folders] = path.split('/').toReversed();
    const kustomization = readFileSync(`${DEPLOY}${[...folders.toReversed(), 'kustomization.yaml'].join('/')}`, 'utf8');
    expect((parse(kustomization) as { resources: readonly string[] }).resources).toContain(file);
  });
});
