/** Who answers for which case files. */
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { Suite } from './adapter.ts';
import { kernelSuites } from './kernel/suites.ts';
import { lightsOutSuites } from './lights-out/suites.ts';
import { memcachedSuites } from './memcached/suites.ts';
import { nodeGroupSuites } from './node-group/suites.ts';
import { quotaResizeSuites } from './quota-resize/suites.ts';
import { quotaUsageSuites } from './quota-usage/suites.ts';

/** A controller that nobody else has an implementation of has none. A name without an entry does not compile. */
const suitesOf: Readonly<Record<ControllerName, readonly Suite[]>> = {
  'quota-resize': quotaResizeSuites,
  'quota-usage': quotaUsageSuites,
  'lights-out': lightsOutSuites,
  memcached: memcachedSuites,
  'node-group': nodeGroupSuites,
  'lease-gc': [],
  'github-budget': [],
};

const suites: readonly Suite[] = [...kernelSuites, ...Object.values(suitesOf).flat()];

/** The suite of a file (`quota-resize-peer`): that with the longest name which fits; undefined when nobody answers for it. */
export function suiteFor(file: string): Suite | undefined {
  const fitting = suites.flatMap((suite) =>
    suite.files.filter((name) => file === name || file.startsWith(`${name}-`)).map((name) => ({ suite, name })),
  );
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0]?.suite;
}
