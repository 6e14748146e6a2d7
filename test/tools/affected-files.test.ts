/** Which integration tests run before a change lands. */
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { affectedFiles, GRAPH_FOLDERS } from '../../tools/test-run/affected-files.ts';
import { coreFiles } from '../../tools/test-run/core.ts';
import { type ImportGraph, importGraph } from '../../tools/test-run/import-graph.ts';

const LIGHTS_OUT = 'test/lights-out/people.integration.test.ts';
const MEMCACHED = 'test/memcached/faults.integration.test.ts';
const QUOTA_RESIZE = 'test/quota-resize/file-queue.integration.test.ts';
/** Of no controller. */
const FAULTS = 'test/faults/recovery.integration.test.ts';
const FORGE = 'test/kernel/forge/reviews.integration.test.ts';

let graph: ImportGraph;
let all: number;
beforeAll(async () => {
  graph = await importGraph(fileURLToPath(new URL('../../', import.meta.url)), GRAPH_FOLDERS);
  all = [...graph.keys()].filter((file) => file.endsWith('.integration.test.ts') && !coreFiles.has(file)).length;
});

const affected = (...changed: readonly string[]): readonly string[] => affectedFiles(changed, graph, coreFiles).files;

describe('a change affects', () => {
  it.each([
    'platform/config/config.ts',
    'domain/kernel/quantity.ts',
    'workflows/kernel/new.ts',
    'test/kernel/stack/stack.ts',
    'package-lock.json',
    'vitest.config.ts',
    'tsconfig.json',
    'tools/helm/go.mod',
    'tools/programs/build-programs.ts',
    'tools/kubernetes/go.mod',
  ])('everything, where it is of %s, which is shared by all', (file) => {
    expect(affected(file)).toHaveLength(all);
  });

  it.each(['worker/main.ts', 'starter/registry.ts', 'domain/registry.ts', 'deploy/chart/templates/worker.yaml'])(
    'everything, where it is of %s, which belongs to no controller',
    (file) => {
      expect(affected(file)).toHaveLength(all);
    },
  );

  it('the tests of its controller and those of none, where one controller alone has to do with it', () => {
    for (const changed of ['workflows/lights-out/workflow.ts', 'deploy/chart/templates/lights-out/rbac.yaml']) {
      const files = affected(changed);
      expect(files).toEqual(expect.arrayContaining([LIGHTS_OUT, FAULTS]));
      expect(files).not.toContain(MEMCACHED);
      expect(files).not.toContain(QUOTA_RESIZE);
    }
  });

  it('the tests of each controller whose code imports it, by whatever way', () => {
    const files = affected('activities/forge/github/client.ts');
    expect(files).toContain(QUOTA_RESIZE);
    expect(files).not.toContain(MEMCACHED);
  });

  it('the tests of another controller that needs it at run time, which no import shows', () => {
    for (const changed of ['workflows/github-budget/workflow.ts', 'deploy/chart/templates/quota-usage/own-rbac.yaml']) {
      expect(affected(changed)).toContain(QUOTA_RESIZE);
    }
  });

  it('the tests that play a repository of test/layouts, where it is of a file of that', () => {
    const files = affected('test/layouts/helm/base/values.yaml');
    expect(files).toContain('test/quota-resize/layouts.integration.test.ts');
    expect(files).not.toContain(MEMCACHED);
  });

  it('of tests, where it is of a test or of what that imports, only those', () => {
    expect(affected(MEMCACHED)).toEqual([MEMCACHED]);
    const files = affected('test/lights-out/cluster.ts');
    expect(files).toContain(LIGHTS_OUT);
    expect(files).not.toContain(FAULTS);
    expect(files).not.toContain(FORGE);
  });

  it('nothing, where it is of words, of unit tests, of benchmarks or of the core alone', () => {
    const core = 'test/quota-resize/episode.integration.test.ts';
    expect(coreFiles).toContain(core);
    expect(
      affected(
        'README.md',
        'test/durations.tsv',
        'docs/testing.md',
        'platform/README.md',
        'bench/main.ts',
        'test/domain/kernel/quantity.test.ts',
        core,
      ),
    ).toEqual([]);
  });

  it('of several files what any of them affects', () => {
    const files = affected('README.md', 'domain/memcached/settings.ts', LIGHTS_OUT);
    expect(files).toEqual(expect.arrayContaining([MEMCACHED, LIGHTS_OUT]));
    expect(files).not.toContain(QUOTA_RESIZE);
  });
});
