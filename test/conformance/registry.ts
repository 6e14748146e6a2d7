/** Who answers for which case files. A new controller adds its folder here, and a line. */
import type { Suite } from './adapter.ts';
import { kernelSuites } from './kernel/suites.ts';
import { lightsOutSuites } from './lights-out/suites.ts';
import { quotaResizeSuites } from './quota-resize/suites.ts';
import { quotaUsageSuites } from './quota-usage/suites.ts';

const suites: readonly Suite[] = [...kernelSuites, ...quotaResizeSuites, ...quotaUsageSuites, ...lightsOutSuites];

/** The suite of a file (`quota-resize-peer`): that with the longest name which fits; undefined when nobody answers for it. */
export function suiteFor(file: string): Suite | undefined {
  const fitting = suites.flatMap((suite) =>
    suite.files.filter((name) => file === name || file.startsWith(`${name}-`)).map((name) => ({ suite, name })),
  );
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0]?.suite;
}
