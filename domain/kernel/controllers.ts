/** The controllers of Headroom. For a new name here, the compiler lists everything that is missing. */
export const controllerNames = [
  'quota-resize',
  'quota-usage',
  'lights-out',
  'memcached',
  'node-group',
  'lease-gc',
  'github-budget',
] as const;

export type ControllerName = (typeof controllerNames)[number];

/** Controllers about nothing but what another one does, which run where that one runs. */
const companions = { 'lease-gc': 'quota-resize', 'github-budget': 'quota-resize' } as const satisfies Partial<
  Record<ControllerName, ControllerName>
>;

/** The controllers that may have a worker and a starter of their own, their pair. */
export type PairName = Exclude<ControllerName, keyof typeof companions>;

/** The pair that a controller runs in, where each has its own. */
export function pairOf(controller: ControllerName): PairName {
  return controller === 'lease-gc' || controller === 'github-budget' ? companions[controller] : controller;
}

export const pairNames: readonly PairName[] = [...new Set(controllerNames.map(pairOf))];

/** A process of a pair. */
export type PairedProcess = 'worker' | 'starter';

/**
 * What everything of a process is called in a cluster, its account included.
 *
 * @param pair null where one pair runs all controllers. The resizer's own pair has the same names: it is always there.
 */
export function processName(process: PairedProcess, pair: PairName | null): string {
  return pair === null || pair === 'quota-resize' ? `headroom-${process}` : `headroom-${process}-${pair}`;
}

/** The pairs whose controllers a process is there for; null: all of them. */
export function namedPairs(runs: ReadonlySet<ControllerName>): readonly PairName[] | null {
  return runs.size === controllerNames.length ? null : pairNames.filter((pair) => runs.has(pair));
}

/** The controllers that a process is there for, named one by one, and that are not switched on. */
export function switchedOff<Config extends { readonly runs: ReadonlySet<ControllerName> }>(
  controllers: Readonly<Record<ControllerName, { readonly isEnabled: (config: Config) => boolean }>>,
  config: Config,
): readonly PairName[] {
  return (namedPairs(config.runs) ?? []).filter((pair) => !controllers[pair].isEnabled(config));
}

/** The controllers that a process runs: of those that it is there for, those that are switched on. */
export function runningControllers<Config extends { readonly runs: ReadonlySet<ControllerName> }>(
  controllers: Readonly<Record<ControllerName, { readonly isEnabled: (config: Config) => boolean }>>,
  config: Config,
): readonly ControllerName[] {
  const names = Object.keys(controllers) as ControllerName[];
  return names.filter((name) => config.runs.has(name) && controllers[name].isEnabled(config));
}

/**
 * The controllers whose workflows a process tells of; null: all of them. Where each has processes of its own, that of the resizer,
 * which is always there, tells of those that are switched off as well: their workflows may still wait.
 */
export function controllersToldOf<Config extends { readonly runs: ReadonlySet<ControllerName> }>(
  controllers: Readonly<Record<ControllerName, { readonly isEnabled: (config: Config) => boolean }>>,
  config: Config,
): readonly ControllerName[] | null {
  const { runs } = config;
  if (namedPairs(runs) === null) return null;
  return controllerNames.filter(
    (name) => runs.has(name) || (runs.has('quota-resize') && !controllers[pairOf(name)].isEnabled(config)),
  );
}
