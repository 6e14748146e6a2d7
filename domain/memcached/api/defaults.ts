/**
 * What is filled in where a Memcached says nothing, as its first implementation does it. It works on any object, because a
 * webhook is asked before the API server checks the types.
 */
import { isRecord } from '../../kernel/record.ts';
import { DEFAULT_EXPORTER_IMAGE, DEFAULT_IMAGE, SERVER_DEFAULTS } from './memcached.ts';

type Fields = Readonly<Record<string, unknown>>;

/** 80 % of the requested CPU. */
const CPU_UTILIZATION = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
} as const;
/** Seconds of less load before pods are taken away, so that a short lull does not empty a part of the cache. */
const SCALE_DOWN = { scaleDown: { stabilizationWindowSeconds: 300 } } as const;

/**
 * The spec with its defaults; one that is complete comes back equal. A section that somebody left out stays out, but for
 * `memcached`.
 */
export function withDefaults(written: unknown): Fields {
  const spec = isRecord(written) ? written : {};
  const { autoscaling, highAvailability, memcached, monitoring } = spec;
  const isScaled = isRecord(autoscaling) && autoscaling['enabled'] === true;
  return {
    ...spec,
    ...(isAbsent(spec['replicas']) && !isScaled ? { replicas: 1 } : {}),
    ...filled(spec, { image: DEFAULT_IMAGE }),
    memcached:
      isRecord(memcached) || isAbsent(memcached) ? withServerDefaults(isRecord(memcached) ? memcached : {}) : memcached,
    ...(isRecord(monitoring) ? { monitoring: withMonitoringDefaults(monitoring) } : {}),
    ...(isRecord(highAvailability)
      ? { highAvailability: { ...highAvailability, ...filled(highAvailability, { antiAffinityPreset: 'soft' }) } }
      : {}),
    ...(isScaled ? { autoscaling: withScalingDefaults(autoscaling) } : {}),
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The defaults of the fields that are absent. */
function filled(fields: Fields, defaults: Fields): Fields {
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => isAbsent(fields[key])));
}

/** 0 and an empty text count as absent. */
function filledWhereEmpty(fields: Fields, defaults: Fields): Fields {
  return Object.fromEntries(
    Object.entries(defaults).filter(([key]) => isAbsent(fields[key]) || fields[key] === 0 || fields[key] === ''),
  );
}

function withServerDefaults(server: Fields): Fields {
  return { ...server, ...filledWhereEmpty(server, SERVER_DEFAULTS) };
}

function withMonitoringDefaults(monitoring: Fields): Fields {
  const { serviceMonitor } = monitoring;
  return {
    ...monitoring,
    ...filled(monitoring, { exporterImage: DEFAULT_EXPORTER_IMAGE }),
    ...(isRecord(serviceMonitor)
      ? {
          serviceMonitor: {
            ...serviceMonitor,
            ...filledWhereEmpty(serviceMonitor, { interval: '30s', scrapeTimeout: '10s' }),
          },
        }
      : {}),
  };
}

function withScalingDefaults(autoscaling: Fields): Fields {
  const { metrics } = autoscaling;
  const hasNone = isAbsent(metrics) || (Array.isArray(metrics) && metrics.length === 0);
  return {
    ...autoscaling,
    ...(hasNone ? { metrics: [CPU_UTILIZATION] } : {}),
    ...filled(autoscaling, { behavior: SCALE_DOWN }),
  };
}
