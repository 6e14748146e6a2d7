/**
 * The inputs of the programs, from the root of the repository, besides packages: a change in one of them requires
 * another build, and a build that contains anything else fails.
 */
export const SOURCES: readonly string[] = [
  'activities',
  'domain',
  'platform',
  'starter',
  'worker',
  'workflows',
  'tools/programs',
  // Which release this is.
  'package.json',
  'package-lock.json',
];
