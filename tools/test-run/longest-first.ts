import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The folders whose files take longest, minutes where others take seconds: they kill servers and wait for what comes back,
 * work through dozens of quotas, or start a program for every command. A short file may take longest.
 */
const LONG = /\/test\/(?:faults|quota-usage|github-budget|chaos|lights-out|starter|browser)\//;

/**
 * Starts the long files first: one that began last would run on alone when the others are through. Among the long ones and
 * among the others the order is vitest's own: by the time they took here before, else by their size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification): boolean => LONG.test(file.moduleId.replaceAll('\\', '/'));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
