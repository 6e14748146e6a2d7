import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The integration tests that take a minute and more, most of it waiting, the longest first: they kill servers and wait for what
 * comes back, or take one quota after the other through a file. A short file may take longest.
 */
export const LONGEST: readonly string[] = [
  'test/node-group/drain/drain.integration.test.ts',
  'test/quota-resize/file-queue.integration.test.ts',
  'test/node-group/vpsie/unkind.integration.test.ts',
  'test/node-group/headroom/deaths.integration.test.ts',
  'test/node-group/headroom/former-lease.integration.test.ts',
  'test/faults/worker-killed.integration.test.ts',
  'test/memcached/faults.integration.test.ts',
  'test/faults/recovery.integration.test.ts',
  'test/node-group/machines/deaths.integration.test.ts',
  'test/quota-usage/side-by-side/side-by-side.integration.test.ts',
  'test/faults/github-faults.integration.test.ts',
  'test/lights-out/faults.integration.test.ts',
  'test/quota-resize/people.integration.test.ts',
  'test/memcached/definitions.integration.test.ts',
  'test/activities/quota-resize/pull-request/open.integration.test.ts',
  'test/lights-out/sequences.integration.test.ts',
  'test/lights-out/nights.integration.test.ts',
  'test/node-group/headroom/shapes.integration.test.ts',
  'test/quota-usage/own.integration.test.ts',
  'test/quota-resize/episode.integration.test.ts',
  'test/memcached/autoscaling.integration.test.ts',
  'test/github-budget/permits.integration.test.ts',
];

/**
 * Starts the long files first: one that began last would run on alone when the others are through. The others come in vitest's own
 * order: by the time that they took here before, else by their size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((file) => moduleId.replaceAll('\\', '/').endsWith(`/${file}`));
      return found === -1 ? LONGEST.length : found;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
