import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { recordedDurations } from './durations.ts';

/**
 * Starts the long files first: one that began last would run on alone when the others are through. What has no recorded
 * duration begins before all others: a file that is new may take longest.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const durations = recordedDurations();
    const seconds = ({ moduleId, project }: TestSpecification): number => {
      const file = moduleId.replaceAll('\\', '/').replace(/^.*(?=\/test\/)\//, '');
      return durations.get(file) ?? (project.name === 'integration' ? Number.POSITIVE_INFINITY : 0);
    };
    // Not a difference: that of two infinities is no number.
    return sorted.toSorted((a, b) => (seconds(a) === seconds(b) ? 0 : seconds(a) > seconds(b) ? -1 : 1));
  }
}
