/** The objects of a Memcached, in the order in which they are written. */
import { parseDuration } from '../../kernel/duration.ts';
import { isAutoscaled, type Memcached } from '../api/memcached.ts';
import { TAKEN_OVER } from '../api/names.ts';
import { type Body, bodyOf, present, standardLabels } from './body.ts';
import { podTemplate, type PodContext, versionedLabels } from './pod-template.ts';
import { EXPORTER_PORT, podPorts } from './ports.ts';
import { rolloutStrategy } from './rollout.ts';
import { SERVERS_SUFFIX, serverListBody } from '../servers/server-list.ts';
import type { Slot } from '../servers/slots.ts';

export const childKinds = [
  'Deployment',
  'HorizontalPodAutoscaler',
  'Service',
  'PodDisruptionBudget',
  'ServiceMonitor',
  'NetworkPolicy',
  'ConfigMap',
] as const;
export type ChildKind = (typeof childKinds)[number];

export interface ChildType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export const CHILD_TYPES: Readonly<Record<ChildKind, ChildType>> = {
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  HorizontalPodAutoscaler: { group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers' },
  Service: { group: '', version: 'v1', plural: 'services' },
  PodDisruptionBudget: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' },
  // The Prometheus operator's: not every cluster serves it.
  ServiceMonitor: { group: 'monitoring.coreos.com', version: 'v1', plural: 'servicemonitors' },
  NetworkPolicy: { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies' },
  // Where clients find the servers by their slots.
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps' },
};

/** Besides the Memcached, what its objects depend on. */
export interface ChildContext extends PodContext {
  /** What the Deployment remembers of pods that go one by one. */
  readonly stepDown?: Readonly<Record<string, string>>;
  readonly slots: readonly Slot[];
}

/** What an object is called. */
export function childName(kind: ChildKind, memcached: string): string {
  return kind === 'ConfigMap' ? `${memcached}${SERVERS_SUFFIX}` : memcached;
}

/** The name of the Memcached that an object of this name would be of. */
export function ownerName(kind: ChildKind, child: string): string {
  return kind === 'ConfigMap' && child.endsWith(SERVERS_SUFFIX) ? child.slice(0, -SERVERS_SUFFIX.length) : child;
}

/** The object that the Memcached wants of each kind; null where it wants none. */
export const CHILD_BODIES: Readonly<Record<ChildKind, (memcached: Memcached, context: ChildContext) => Body | null>> = {
  Deployment: deployment,
  HorizontalPodAutoscaler: autoscaler,
  Service: service,
  PodDisruptionBudget: disruptionBudget,
  ServiceMonitor: serviceMonitor,
  NetworkPolicy: networkPolicy,
  ConfigMap: (memcached, { slots }) => serverListBody(memcached, slots),
};

function kindOf(kind: ChildKind): { readonly apiVersion: string; readonly kind: ChildKind } {
  const { group, version } = CHILD_TYPES[kind];
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

/** Kubernetes' own: seconds in which a rollout has to make progress, unless something else is said. */
const PROGRESS_DEADLINE = 600;

/** Without `spec.replicas`, which has a field manager of its own. */
function deployment(memcached: Memcached, context: ChildContext): Body {
  const { name, spec, generation } = memcached;
  // 0 is the API server's own default, which it leaves out.
  const minReadySeconds = spec.highAvailability?.warmUpSeconds || undefined;
  const labels = versionedLabels(name, spec);
  return bodyOf(memcached, {
    ...kindOf('Deployment'),
    labels,
    annotations: { ...(context.isTakenOver ? { [TAKEN_OVER]: String(generation) } : {}), ...context.stepDown },
    spec: present({
      minReadySeconds,
      // A new pod makes progress when it has warmed up; the API server takes no shorter deadline.
      progressDeadlineSeconds: minReadySeconds === undefined ? undefined : minReadySeconds + PROGRESS_DEADLINE,
      selector: { matchLabels: standardLabels(name) },
      strategy: rolloutStrategy(spec, labels),
      template: podTemplate(memcached, context),
    }),
  });
}

/** How many pods the Deployment is to have; null where an autoscaler decides. */
export function deploymentReplicas(spec: Pick<Memcached['spec'], 'replicas' | 'autoscaling'>): number | null {
  return isAutoscaled(spec) ? null : (spec.replicas ?? 1);
}

function autoscaler(memcached: Memcached): Body | null {
  const { name, spec } = memcached;
  if (!isAutoscaled(spec)) return null;
  const { minReplicas, maxReplicas, metrics } = spec.autoscaling ?? {};
  return bodyOf(memcached, {
    ...kindOf('HorizontalPodAutoscaler'),
    spec: present({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas,
      maxReplicas,
      metrics,
      behavior: scalingBehaviorOf(spec),
    }),
  });
}

/** Seconds between an autoscaler's recommendation and the moment for which it remembers what it made of it, on a slow machine. */
const REMEMBERED_LATE = 5;

/**
 * With `scaleDownOnePodEvery`, one pod goes at a time: its part of the cache is lost, and the others have to bear that first. A policy
 * alone does not do that: an autoscaler takes away in a period what it added in the same one, and one pod more. So it goes by the
 * highest recommendation of a span that is longer than the period.
 */
function scalingBehaviorOf({ autoscaling: scaling }: Memcached['spec']): Readonly<Record<string, unknown>> | undefined {
  const { behavior, scaleDownOnePodEvery: every } = scaling ?? {};
  if (every === undefined) return behavior;
  const periodSeconds = parseDuration(every) / 1000;
  const policies = [{ type: 'Pods', value: 1, periodSeconds }];
  const stabilizationWindowSeconds = Math.max(
    behavior?.scaleDown?.stabilizationWindowSeconds ?? 0,
    periodSeconds + REMEMBERED_LATE,
  );
  return { ...behavior, scaleDown: { ...behavior?.scaleDown, stabilizationWindowSeconds, policies } };
}

function service(memcached: Memcached): Body {
  const { name, spec } = memcached;
  return bodyOf(memcached, {
    ...kindOf('Service'),
    annotations: spec.service?.annotations,
    spec: {
      clusterIP: 'None',
      selector: standardLabels(name),
      // Name and protocol in each: an apply merges ports by number and protocol.
      ports: podPorts(spec).map((port) => ({
        name: port.name,
        port: port.port,
        targetPort: port.name,
        protocol: 'TCP',
      })),
    },
  });
}

function disruptionBudget(memcached: Memcached): Body | null {
  const { name, spec } = memcached;
  const budget = spec.highAvailability?.podDisruptionBudget;
  if (budget?.enabled !== true) return null;
  return bodyOf(memcached, {
    ...kindOf('PodDisruptionBudget'),
    spec: { selector: { matchLabels: standardLabels(name) }, ...budgetLimit(budget) },
  });
}

/** minAvailable, else maxUnavailable, else one pod stays. */
function budgetLimit({
  minAvailable,
  maxUnavailable,
}: {
  readonly minAvailable?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}): Readonly<Record<string, number | string>> {
  if (minAvailable !== undefined) return { minAvailable };
  return maxUnavailable === undefined ? { minAvailable: 1 } : { maxUnavailable };
}

function serviceMonitor(memcached: Memcached): Body | null {
  const { name, namespace, spec } = memcached;
  const { enabled, serviceMonitor: monitor } = spec.monitoring ?? {};
  if (enabled !== true || monitor === undefined) return null;
  const { interval, scrapeTimeout, additionalLabels } = monitor;
  return bodyOf(memcached, {
    ...kindOf('ServiceMonitor'),
    labels: additionalLabels,
    spec: {
      selector: { matchLabels: standardLabels(name) },
      namespaceSelector: { matchNames: [namespace] },
      endpoints: [{ port: EXPORTER_PORT.name, interval, scrapeTimeout }],
    },
  });
}

function networkPolicy(memcached: Memcached): Body | null {
  const { name, spec } = memcached;
  const policy = spec.security?.networkPolicy;
  if (policy?.enabled !== true) return null;
  const from = policy.allowedSources?.length ? { from: policy.allowedSources } : {};
  return bodyOf(memcached, {
    ...kindOf('NetworkPolicy'),
    spec: {
      podSelector: { matchLabels: standardLabels(name) },
      policyTypes: ['Ingress'],
      ingress: [{ ports: podPorts(spec).map(({ port }) => ({ port, protocol: 'TCP' })), ...from }],
    },
  });
}
