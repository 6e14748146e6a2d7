import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import { type ImportGraph, importersOf } from './import-graph.ts';

/** The folders whose imports count. */
export const GRAPH_FOLDERS = [
  'domain',
  'activities',
  'workflows',
  'platform',
  'worker',
  'starter',
  'test',
  'tools',
  'bench',
] as const;

const INTEGRATION_TEST = /^test\/.*\.integration\.test\.ts$/;
/** What every process and every test shares, and what they are built and run by. */
const SHARED =
  /^(platform|test\/kernel|tools\/(programs|resolver|test-run|etcd|kubernetes|temporal|kwok|helm|kustomize|memcached-exporter))\/|^\w+\/kernel\/|^(package(-lock)?\.json|(tsconfig|vitest\.config)\.(ts|json))$/;
const WORDS_AND_UNIT_TESTS = /\.md$|(?<!\.integration)\.test\.ts$/;
/** Figures, and what only checks and unit tests read. */
const NO_MATTER =
  /^(docs|bench|tools|\.ci|test\/(cases|replay|conformance|lint|docs|tools|fuzz))\/|^test\/durations\.tsv$|^[^/]+$/;
/** The repositories of test/layouts, which this file reads. */
const LAYOUT = /^test\/layouts\/.+\/.+/;
const LAYOUTS_READER = 'test/layouts/tree.ts';
/** Whose tests also run another controller, which no import shows: resizes ask for permits, and go by counted usage. */
const NEEDED_BY: Partial<Record<ControllerName, readonly ControllerName[]>> = {
  'github-budget': ['quota-resize'],
  'quota-usage': ['quota-resize'],
};

/** Which integration tests a change may break, and why. */
export interface Affected {
  readonly files: readonly string[];
  /** For a person: `platform/log.ts is shared by all`. */
  readonly because: string;
}

/**
 * The integration tests outside of the core that a change may break. The product runs in processes of its own, which no import of a
 * test shows. So a change of the product also counts for all tests of the controllers whose code imports it, or all tests if none
 * does, and for those that belong to no controller.
 *
 * @param paths paths from the root of the checkout, of files that were added, changed or removed.
 */
export function affectedFiles(paths: readonly string[], graph: ImportGraph, core: ReadonlySet<string>): Affected {
  const changed = paths.map((path) => (LAYOUT.test(path) ? LAYOUTS_READER : path));
  const tests = [...graph.keys()].filter((file) => INTEGRATION_TEST.test(file) && !core.has(file)).toSorted();
  const controllers = new Set<ControllerName>();
  for (const file of changed) {
    if (SHARED.test(file) && !WORDS_AND_UNIT_TESTS.test(file)) {
      return { files: tests, because: `${file} is shared by all` };
    }
    // Of the files of tests it is the imports that count.
    if (NO_MATTER.test(file) || WORDS_AND_UNIT_TESTS.test(file) || /^test\/.*\.ts$/.test(file)) continue;
    const own = new Set(productImporters(graph, file).flatMap(controllersOf));
    if (own.size === 0) return { files: tests, because: `${file} belongs to no controller` };
    for (const controller of own) {
      for (const each of [controller, ...(NEEDED_BY[controller] ?? [])]) controllers.add(each);
    }
  }
  const importers = importersOf(graph, changed);
  const isOf = (test: string): boolean => {
    const own = controllersOf(test);
    return own.length === 0 ? controllers.size > 0 : own.some((controller) => controllers.has(controller));
  };
  return {
    files: tests.filter((test) => importers.has(test) || isOf(test)),
    because: controllers.size === 0 ? 'no code of the product changed' : `of ${[...controllers].join(', ')}`,
  };
}

/** The registries import every controller, and a controller is no matter of the others for that. */
function productImporters(graph: ImportGraph, file: string): readonly string[] {
  return [...importersOf(graph, [file], (each) => each.endsWith('registry.ts') || each.startsWith('test/'))];
}

function controllersOf(file: string): readonly ControllerName[] {
  const parts = file.split('/');
  return controllerNames.filter((name) => parts.includes(name));
}
