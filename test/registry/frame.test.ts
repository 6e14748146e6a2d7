/** What every controller shares knows none of them by name; only the registries do. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { controllerSettings } from '../../domain/registry.ts';
import { controllers as commandLineControllers } from '../../starter/cli/registry.ts';
import { controllers as starterControllers } from '../../starter/registry.ts';
import { controllers as workerControllers } from '../../worker/registry.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FRAME = [
  'domain/kernel/**/*.ts',
  'activities/kernel/**/*.ts',
  'activities/kubernetes/**/*.ts',
  'workflows/kernel/**/*.ts',
  'platform/**/*.ts',
  'worker/*.ts',
  'starter/*.ts',
  'starter/controller.ts',
  'starter/kernel/**/*.ts',
  'starter/admission/**/*.ts',
  'starter/overview/**/*.ts',
  'starter/cli/*.ts',
];
const REGISTRIES = [
  'domain/kernel/controllers.ts',
  'worker/registry.ts',
  'starter/registry.ts',
  'starter/cli/registry.ts',
];

/** `quota-resize` as it is written in paths, in names and in sentences. */
function spellings(controller: string): readonly string[] {
  const words = controller.split('-');
  const pascal = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return [controller, words.join('_'), words.join(' '), pascal, pascal.slice(0, 1).toLowerCase() + pascal.slice(1)];
}

const files = globSync(FRAME, { cwd: ROOT })
  .filter((file) => !REGISTRIES.includes(file))
  .toSorted();

describe('the frame', () => {
  it('has files', () => {
    expect(files).toContain('worker/main.ts');
    expect(files).toContain('platform/config/config.ts');
    expect(files.length).toBeGreaterThan(25);
  });

  it.each(files)('%s names no controller', (file) => {
    const source = readFileSync(`${ROOT}/${file}`, 'utf8').toLowerCase();
    const named = controllerNames.filter((name) =>
      spellings(name).some((spelling) => source.includes(spelling.toLowerCase())),
    );
    expect(named).toEqual([]);
  });
});

describe('every registry', () => {
  it.each([
    ['of the settings', controllerSettings],
    ['of the worker', workerControllers],
    ['of the starter', starterControllers],
    ['of the command line', commandLineControllers],
  ])('%s has every controller, and no other', (_, registry) => {
    expect(Object.keys(registry).toSorted()).toEqual([...controllerNames].toSorted());
  });
});
