/** What of a Memcached contradicts itself: the rules of its first implementation, in their order, with their words. */
import { compareQuantities, formatQuantity, isQuantity, parseQuantity, quantityOf } from '../../kernel/quantity.ts';
import { isAutoscaled, type WrittenSpec } from './memcached.ts';

const BYTES_PER_MEBIBYTE = 1024n * 1024n;
/** MiB for connections, threads and tables, beside the memory for items. */
const OVERHEAD_MEBIBYTES = 32n;

/**
 * One problem for each rule that is broken, as the API server prints them: `path: Invalid value: V: …`. A number that is
 * absent counts as 0: defaults are filled in before.
 */
export function specProblems(spec: WrittenSpec): readonly string[] {
  return [
    ...memoryProblems(spec),
    ...budgetProblems(spec),
    ...shutdownProblems(spec),
    ...secretProblems(spec),
    ...exclusivityProblems(spec),
    ...scalingProblems(spec),
  ];
}

/**
 * The same but for the count of replicas beside autoscaling. Such an object may be stored, from before there was a webhook, and
 * runs: its replicas are ignored.
 */
export function blockingProblems(spec: WrittenSpec): readonly string[] {
  const tolerated = new Set(exclusivityProblems(spec));
  return specProblems(spec).filter((problem) => !tolerated.has(problem));
}

function invalid(path: string, value: string | number, message: string): string {
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${message}`;
}

function required(path: string, message: string): string {
  return `${path}: Required value: ${message}`;
}

function memoryProblems({ resources, memcached }: WrittenSpec): readonly string[] {
  const written = resources?.limits?.['memory'];
  if (written === undefined || memcached === undefined) return [];
  const path = 'spec.resources.limits.memory';
  // The pattern of the definition, which is Kubernetes' own, lets through exponents that no quantity has.
  if (!isQuantity(String(written))) return [invalid(path, String(written), 'a quantity, such as 96Mi')];
  const limit = parseQuantity(String(written));
  const maxMemoryMB = memcached.maxMemoryMB ?? 0;
  const least = quantityOf((BigInt(maxMemoryMB) + OVERHEAD_MEBIBYTES) * BYTES_PER_MEBIBYTE, 'BinarySI');
  if (compareQuantities(limit, least) >= 0) return [];
  const message = `memory limit must be at least ${formatQuantity(least)} (maxMemoryMB=${maxMemoryMB}Mi + ${OVERHEAD_MEBIBYTES}Mi overhead)`;
  return [invalid(path, String(written), message)];
}

function budgetProblems({ highAvailability, replicas }: WrittenSpec): readonly string[] {
  const budget = highAvailability?.podDisruptionBudget;
  if (budget?.enabled !== true) return [];
  const path = 'spec.highAvailability.podDisruptionBudget';
  const { minAvailable, maxUnavailable } = budget;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    return [invalid(path, '', 'minAvailable and maxUnavailable are mutually exclusive, specify only one')];
  }
  if (minAvailable === undefined && maxUnavailable === undefined) {
    return [required(path, 'one of minAvailable or maxUnavailable must be set when PDB is enabled')];
  }
  if (typeof minAvailable !== 'number' || replicas === undefined || minAvailable < replicas) return [];
  const message = `minAvailable (${minAvailable}) must be less than replicas (${replicas})`;
  return [invalid(`${path}.minAvailable`, minAvailable, message)];
}

function shutdownProblems({ highAvailability }: WrittenSpec): readonly string[] {
  const shutdown = highAvailability?.gracefulShutdown;
  if (shutdown?.enabled !== true) return [];
  const { preStopDelaySeconds: delay = 0, terminationGracePeriodSeconds: grace = 0 } = shutdown;
  if (grace > delay) return [];
  const message = `terminationGracePeriodSeconds (${grace}) must exceed preStopDelaySeconds (${delay})`;
  return [invalid('spec.highAvailability.gracefulShutdown.terminationGracePeriodSeconds', grace, message)];
}

function secretProblems({ security: { sasl, tls } = {} }: WrittenSpec): readonly string[] {
  const path = 'spec.security';
  return [
    ...(sasl?.enabled === true && !sasl.credentialsSecretRef?.name
      ? [
          required(
            `${path}.sasl.credentialsSecretRef.name`,
            'credentialsSecretRef.name is required when SASL is enabled',
          ),
        ]
      : []),
    ...(tls?.enabled === true && !tls.certificateSecretRef?.name
      ? [required(`${path}.tls.certificateSecretRef.name`, 'certificateSecretRef.name is required when TLS is enabled')]
      : []),
  ];
}

function exclusivityProblems(spec: WrittenSpec): readonly string[] {
  if (!isAutoscaled(spec) || spec.replicas === undefined) return [];
  const message = 'spec.replicas and spec.autoscaling.enabled are mutually exclusive';
  return [invalid('spec.replicas', spec.replicas, message)];
}

function scalingProblems(spec: WrittenSpec): readonly string[] {
  if (!isAutoscaled(spec)) return [];
  const { minReplicas, maxReplicas = 0, metrics = [] } = spec.autoscaling ?? {};
  const needsRequest = metrics.some(
    ({ type, resource }) => type === 'Resource' && resource?.name === 'cpu' && resource.target.type === 'Utilization',
  );
  return [
    ...(minReplicas !== undefined && minReplicas > maxReplicas
      ? [
          invalid(
            'spec.autoscaling.minReplicas',
            minReplicas,
            `minReplicas (${minReplicas}) must not exceed maxReplicas (${maxReplicas})`,
          ),
        ]
      : []),
    ...(needsRequest && spec.resources?.requests?.['cpu'] === undefined
      ? [
          required(
            'spec.resources.requests.cpu',
            'resources.requests.cpu is required when using CPU utilization metrics',
          ),
        ]
      : []),
  ];
}
