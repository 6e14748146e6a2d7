/**
 * What of a Memcached cannot work although nothing refuses it: the first implementation takes it, and so does the API server. The
 * validating webhook warns of it, and the status goes on saying it.
 */
import { EXPORTER_PORT } from '../children/ports.ts';
import { isAutoscaled, type WrittenSpec } from './memcached.ts';

type Metric = NonNullable<NonNullable<WrittenSpec['autoscaling']>['metrics']>[number];

/** Sentences, each with what would be right; of a spec with its defaults. */
export function specWarnings(spec: WrittenSpec): readonly string[] {
  return [
    ...unscrapedMetrics(spec),
    ...closedExporter(spec),
    ...metricWarnings(spec),
    ...budgetWarnings(spec),
    ...onlyPodWarnings(spec),
  ];
}

/** The exporter of memcached speaks the text protocol, and has no way to log in. */
function unscrapedMetrics({ monitoring, security }: WrittenSpec): readonly string[] {
  if (monitoring?.enabled !== true || security?.sasl?.enabled !== true) return [];
  return [
    'metrics cannot be scraped, because memcached asks for a password (spec.security.sasl) and the exporter has none: memcached_up stays 0',
  ];
}

/** Kubernetes lets in only whom a policy names, at each of its ports. */
function closedExporter({ monitoring, security }: WrittenSpec): readonly string[] {
  const { enabled, allowedSources = [] } = security?.networkPolicy ?? {};
  if (monitoring?.enabled !== true || enabled !== true || allowedSources.length === 0) return [];
  return [
    `spec.security.networkPolicy.allowedSources: they are all who may connect to the exporter as well (port ${EXPORTER_PORT.port}): name where Prometheus runs, or it cannot scrape`,
  ];
}

function metricWarnings(spec: WrittenSpec): readonly string[] {
  if (!isAutoscaled(spec)) return [];
  return (spec.autoscaling?.metrics ?? []).flatMap((metric, at) =>
    metricProblem(metric, spec).map((problem) => `spec.autoscaling.metrics[${at}]: ${problem}`),
  );
}

function metricProblem({ type, resource, containerResource }: Metric, spec: WrittenSpec): readonly string[] {
  const measured = type === 'Resource' ? resource : type === 'ContainerResource' ? containerResource : undefined;
  if (measured === undefined) return [];
  const { name, target } = measured;
  const container = type === 'ContainerResource' ? (containerResource?.container ?? '') : null;
  const containers = ['memcached', ...(spec.monitoring?.enabled === true ? ['exporter'] : [])];
  if (container !== null && !containers.includes(container)) {
    return [`no pod has a container ${JSON.stringify(container)}: there is ${containers.join(' and ')}`];
  }
  if (container === 'exporter') return [];
  return [
    ...(name === 'memory'
      ? ['memcached keeps the memory of a filled cache, so pods are added by it and never taken away: scale by cpu']
      : []),
    ...(target.type === 'Utilization' && !hasRequest(spec, name)
      ? [`the utilization of ${name} is not known without spec.resources.requests.${name}: the autoscaler does nothing`]
      : []),
  ];
}

/** A limit is a request as well, where there is no other. */
function hasRequest({ resources }: WrittenSpec, name: string): boolean {
  return resources?.requests?.[name] !== undefined || resources?.limits?.[name] !== undefined;
}

/** A budget that allows no eviction holds back every drain of a node until somebody deletes it. */
function budgetWarnings(spec: WrittenSpec): readonly string[] {
  const budget = spec.highAvailability?.podDisruptionBudget;
  if (budget?.enabled !== true) return [];
  const { minAvailable, maxUnavailable } = budget;
  const isScaled = isAutoscaled(spec);
  const pods = fewestPods(spec);
  // As Kubernetes counts: percentages of either are rounded up.
  const [field, limit, spare] =
    minAvailable === undefined
      ? (['maxUnavailable', maxUnavailable, amountOf(maxUnavailable, pods)] as const)
      : (['minAvailable', minAvailable, pods - (amountOf(minAvailable, pods) ?? 0)] as const);
  if (pods === 0 || spare === null || spare > 0) return [];
  const count = `${pods} ${pods === 1 ? 'pod' : 'pods'}`;
  const when = isScaled && minAvailable !== undefined ? `while the autoscaler is at ${count}` : `with ${count}`;
  return [
    `spec.highAvailability.podDisruptionBudget.${field}: ${JSON.stringify(limit)} never lets a pod go ${when}, so that no node with one can be drained: set maxUnavailable to 1 instead`,
  ];
}

function fewestPods(spec: WrittenSpec): number {
  return isAutoscaled(spec) ? (spec.autoscaling?.minReplicas ?? 1) : (spec.replicas ?? 1);
}

/** Two pods never share a node, so a rollout waits for the place of the old one (`rolloutStrategy`). */
function onlyPodWarnings(spec: WrittenSpec): readonly string[] {
  if (spec.highAvailability?.antiAffinityPreset !== 'hard' || fewestPods(spec) !== 1) return [];
  const when = isAutoscaled(spec) ? 'while the autoscaler is at 1 pod' : 'with 1 pod';
  return [
    `spec.highAvailability.antiAffinityPreset: with "hard" a pod goes before the next one is there, so that nobody serves meanwhile ${when}: set "soft", or more replicas`,
  ];
}

/** A number of pods; null for what is no such thing, which the API server refuses. */
function amountOf(value: number | string | undefined, pods: number): number | null {
  if (typeof value === 'number') return value;
  const [, percent] = /^(\d+)%$/.exec(value ?? '') ?? [];
  return percent === undefined ? null : Math.ceil((Number(percent) * pods) / 100);
}
