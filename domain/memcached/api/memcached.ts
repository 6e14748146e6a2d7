/** The type of a Memcached, from which its definition, its webhooks and its controller are derived. */
import { z } from 'zod';
import { condition } from '../../kernel/condition.ts';
import {
  containerSecurityContext,
  intOrString,
  metricSpec,
  networkPolicyPeer,
  podSecurityContext,
  resourceRequirements,
  scalingBehavior,
  secretReference,
  topologySpreadConstraint,
} from './kubernetes-schemas.ts';

export const DEFAULT_IMAGE = 'memcached:1.6';
export const DEFAULT_EXPORTER_IMAGE = 'prom/memcached-exporter:v0.15.4';

/** What `memcached` is when nothing is said. */
export const SERVER_DEFAULTS = { maxMemoryMB: 64, maxConnections: 1024, threads: 4, maxItemSize: '1m' } as const;

const enabled = z.boolean().optional();

const server = z.object({
  maxMemoryMB: z
    .int()
    .min(16)
    .max(65_536)
    .default(SERVER_DEFAULTS.maxMemoryMB)
    .describe('Memory for items, in MiB (-m).'),
  maxConnections: z
    .int()
    .min(1)
    .max(65_536)
    .default(SERVER_DEFAULTS.maxConnections)
    .describe('Connections at the same time (-c).'),
  threads: z.int().min(1).max(128).default(SERVER_DEFAULTS.threads).describe('Threads (-t).'),
  maxItemSize: z
    .string()
    .regex(/^[0-9]+(k|m)$/)
    .default(SERVER_DEFAULTS.maxItemSize)
    .describe('The largest item, such as 1m or 512k (-I).'),
  verbosity: z.int().min(0).max(2).default(0).describe('0: no log, 1: -v, 2: -vv.'),
  extraArgs: z.array(z.string().max(1024)).max(128).optional().describe('Further arguments, after all others.'),
});

const highAvailability = z.object({
  antiAffinityPreset: z
    .enum(['soft', 'hard'])
    .default('soft')
    .describe('soft: pods prefer different nodes. hard: two never share a node.'),
  topologySpreadConstraints: z.array(topologySpreadConstraint).optional().describe('How pods are spread, as in a pod.'),
  podDisruptionBudget: z
    .object({
      enabled,
      minAvailable: intOrString.optional().describe('A number of pods, or a percentage. Not beside maxUnavailable.'),
      maxUnavailable: intOrString.optional().describe('A number of pods, or a percentage. Not beside minAvailable.'),
    })
    .optional()
    .describe('How many pods have to stay when nodes are drained.'),
  gracefulShutdown: z
    .object({
      enabled,
      preStopDelaySeconds: z
        .int()
        .min(1)
        .max(300)
        .default(10)
        .describe('How long a pod goes on serving after it was asked to stop.'),
      terminationGracePeriodSeconds: z
        .int()
        .min(1)
        .max(600)
        .default(30)
        .describe('After how long it is killed; more than preStopDelaySeconds.'),
    })
    .optional()
    .describe('How pods stop.'),
  warmUpSeconds: z
    .int()
    .min(0)
    .max(3600)
    .optional()
    .describe('How long a new pod has to be ready before the next one is replaced: its part of the cache is empty.'),
});

const monitoring = z.object({
  enabled,
  exporterImage: z.string().default(DEFAULT_EXPORTER_IMAGE).describe('The image of the exporter.'),
  exporterResources: resourceRequirements.optional().describe("The exporter's requests and limits."),
  serviceMonitor: z
    .object({
      additionalLabels: z.record(z.string(), z.string()).optional().describe('Further labels of the ServiceMonitor.'),
      interval: z.string().default('30s').describe('How often Prometheus scrapes.'),
      scrapeTimeout: z.string().default('10s').describe('How long Prometheus waits for an answer.'),
    })
    .optional()
    .describe('Present: a ServiceMonitor is made, where the cluster serves them.'),
});

const security = z.object({
  podSecurityContext: podSecurityContext.optional(),
  containerSecurityContext: containerSecurityContext.optional().describe('Of memcached and of the exporter.'),
  sasl: z
    .object({
      enabled,
      credentialsSecretRef: secretReference.optional().describe('The Secret with the key password-file.'),
    })
    .optional()
    .describe('Password authentication (-Y).'),
  tls: z
    .object({
      enabled,
      certificateSecretRef: secretReference
        .optional()
        .describe('The Secret with the keys tls.crt and tls.key, and with ca.crt for client certificates.'),
      enableClientCert: z.boolean().optional().describe('Whether clients must show a certificate of ca.crt.'),
    })
    .optional()
    .describe('TLS (-Z).'),
  networkPolicy: z
    .object({
      enabled,
      allowedSources: z.array(networkPolicyPeer).optional().describe('Who may connect. Empty: everybody.'),
    })
    .optional(),
});

const autoscaling = z.object({
  enabled,
  minReplicas: z.int().min(1).optional().describe('The fewest pods. Absent: 1.'),
  maxReplicas: z.int().min(1).optional().describe('The most pods.'),
  metrics: z.array(metricSpec).optional().describe('What is scaled by. Empty: 80 % of the requested CPU.'),
  behavior: scalingBehavior.optional().describe('How fast. Absent: down only after 300 s of less load.'),
  scaleDownOnePodEvery: z
    .string()
    .regex(/^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/)
    .optional()
    .describe('At most one pod goes in this time, such as 5m; at most 30m. Not beside behavior.scaleDown.policies.'),
});

/** `spec` of a Memcached, with the defaults of its definition. */
export const memcachedSpec = z.object({
  replicas: z.int().min(0).max(64).optional().describe('The number of pods; not beside autoscaling. Absent: 1.'),
  image: z.string().default(DEFAULT_IMAGE).describe('The image of memcached.'),
  resources: resourceRequirements.optional().describe("memcached's requests and limits."),
  memcached: server.optional().describe('The server itself.'),
  highAvailability: highAvailability.optional(),
  monitoring: monitoring.optional().describe('An exporter for Prometheus in every pod.'),
  security: security.optional(),
  autoscaling: autoscaling.optional().describe('A HorizontalPodAutoscaler has the number of pods.'),
  service: z
    .object({ annotations: z.record(z.string(), z.string()).optional().describe('Annotations of the Service.') })
    .optional(),
});
export type MemcachedSpec = z.output<typeof memcachedSpec>;
/** A spec as somebody wrote it: defaults are not filled in. */
export type WrittenSpec = z.input<typeof memcachedSpec>;

/** `status` of a Memcached; every field may be missing. */
export const memcachedStatus = z.object({
  conditions: z.array(condition).optional(),
  readyReplicas: z.int().optional().describe('How many pods are ready.'),
  observedGeneration: z.int().optional().describe('The generation of the spec that this status is about.'),
  serverList: z.array(z.string()).optional().describe('Where clients connect, once every pod is ready.'),
  notes: z
    .array(z.string())
    .optional()
    .describe('What is as it is on purpose, what waits for a change of the spec, and what cannot work.'),
  servers: z
    .array(
      z.object({
        slot: z.int().describe('What clients hash on, as NAME-SLOT: a pod that replaces another one takes its slot.'),
        address: z.string().describe('The address of the pod that has it, or had it last, with the port.'),
      }),
    )
    .optional()
    .describe('The servers by their slots, as in the ConfigMap NAME-servers.'),
});
export type MemcachedStatus = z.infer<typeof memcachedStatus>;

/** A Memcached that could be read. */
export interface Memcached {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: MemcachedSpec;
}

/** Whether a HorizontalPodAutoscaler has the number of pods. */
export function isAutoscaled({ autoscaling: scaling }: Pick<WrittenSpec, 'autoscaling'>): boolean {
  return scaling?.enabled === true;
}
