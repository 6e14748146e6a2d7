/**
 * What the programs are made of, from the root of the repository, besides the packages: a change in any of these is another
 * build, and a build that contains anything else fails.
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
