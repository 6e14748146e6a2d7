/** The pods of a Memcached. */
import type { Memcached, MemcachedSpec } from '../api/memcached.ts';
import { RESTART_TRIGGER, SECRET_HASH } from '../api/names.ts';
import { exporterArguments, SASL_PATH, serverArguments, TLS_PATH } from './arguments.ts';
import { present, standardLabels } from './body.ts';
import { EXPORTER_PORT, serverPorts } from './ports.ts';
import { certificateKeys, PASSWORD_KEYS } from './secrets.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A hash of the Secrets that pods mount, and when people asked for a restart; both may be empty. */
export interface RestartCauses {
  readonly secretHash: string;
  readonly restartTrigger: string;
}

/** Kubernetes takes no longer value of a label; a tag may have 128 characters. */
const LONGEST_LABEL_VALUE = 63;

/**
 * The version in the image's tag, as far as it can be the value of a label, which begins and ends with a letter or a digit. None where the
 * image is named by its digest, or has no tag.
 */
function imageVersion(image: string): string | undefined {
  if (image.includes('@')) return undefined;
  const [, tag = ''] = /:([\w.-]+)$/.exec(image) ?? [];
  const version = tag
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, LONGEST_LABEL_VALUE)
    .replace(/[^A-Za-z0-9]+$/, '');
  return version === '' ? undefined : version;
}

/** The labels of the Deployment and its pods. They do not select: an image may change. */
export function versionedLabels(
  name: string,
  { image }: Pick<MemcachedSpec, 'image'>,
): Readonly<Record<string, string>> {
  const version = imageVersion(image);
  return { ...standardLabels(name), ...(version === undefined ? {} : { 'app.kubernetes.io/version': version }) };
}

/** The annotations of the pods: when one changes, they are replaced. Undefined where there are none. */
export function podAnnotations({
  secretHash,
  restartTrigger,
}: RestartCauses): Readonly<Record<string, string>> | undefined {
  const annotations = {
    ...(secretHash === '' ? {} : { [SECRET_HASH]: secretHash }),
    ...(restartTrigger === '' ? {} : { [RESTART_TRIGGER]: restartTrigger }),
  };
  return Object.keys(annotations).length === 0 ? undefined : annotations;
}

export interface PodContext {
  /** A hash of the Secrets that the pods mount; empty without. */
  readonly secretHash: string;
  /** Whether the pods are to stay as the operator made them that the Deployment was taken over from. */
  readonly isTakenOver: boolean;
}

/** `spec.template` of the Deployment. */
export function podTemplate({ name, annotations, spec }: Memcached, context: PodContext): Fields {
  const { secretHash, isTakenOver } = context;
  const { highAvailability, security, monitoring } = spec;
  const { gracefulShutdown, topologySpreadConstraints } = highAvailability ?? {};
  const causes = { secretHash, restartTrigger: annotations[RESTART_TRIGGER] ?? '' };
  const volumes = volumesOf(spec);
  return {
    metadata: present({ labels: versionedLabels(name, spec), annotations: podAnnotations(causes) }),
    spec: present({
      affinity: antiAffinity(name, spec),
      topologySpreadConstraints: topologySpreadConstraints?.length ? topologySpreadConstraints : undefined,
      terminationGracePeriodSeconds:
        gracefulShutdown?.enabled === true ? gracefulShutdown.terminationGracePeriodSeconds : undefined,
      securityContext: security?.podSecurityContext,
      containers: [
        serverContainer(spec, isTakenOver),
        ...(monitoring?.enabled === true ? [exporterContainer(spec, isTakenOver)] : []),
      ],
      volumes: volumes.length === 0 ? undefined : volumes.map(({ volume }) => volume),
    }),
  };
}

function serverContainer(spec: MemcachedSpec, isTakenOver: boolean): Fields {
  const { image, resources, highAvailability, security } = spec;
  const { gracefulShutdown } = highAvailability ?? {};
  const volumes = volumesOf(spec);
  const probe = (seconds: number): object => ({
    tcpSocket: { port: 'memcached' },
    initialDelaySeconds: seconds,
    periodSeconds: seconds,
  });
  return present({
    name: 'memcached',
    image,
    args: serverArguments(spec, isTakenOver),
    resources,
    lifecycle:
      gracefulShutdown?.enabled === true
        ? { preStop: { exec: { command: ['sleep', String(gracefulShutdown.preStopDelaySeconds)] } } }
        : undefined,
    securityContext: security?.containerSecurityContext,
    volumeMounts: volumes.length === 0 ? undefined : volumes.map(({ mount }) => mount),
    ports: serverPorts(spec).map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    livenessProbe: probe(10),
    readinessProbe: probe(5),
  });
}

/**
 * What the exporter asks for where nobody says it: a few megabytes and next to no time. An autoscaler goes by the utilization of a
 * pod only if every container has a request.
 */
const EXPORTER_REQUESTS: Readonly<Record<string, string>> = { cpu: '10m', memory: '16Mi' };

function exporterResources({ monitoring, autoscaling }: MemcachedSpec): Fields | undefined {
  const written = monitoring?.exporterResources;
  const scaled = autoscaling?.enabled === true ? (autoscaling.metrics ?? []) : [];
  const missing = scaled.flatMap(({ type, resource }) => {
    const name = type === 'Resource' && resource?.target.type === 'Utilization' ? resource.name : '';
    const request = written?.requests?.[name] === undefined ? EXPORTER_REQUESTS[name] : undefined;
    return request === undefined || written?.limits?.[name] !== undefined ? [] : [[name, request] as const];
  });
  if (missing.length === 0) return written;
  return { ...written, requests: { ...written?.requests, ...Object.fromEntries(missing) } };
}

function exporterContainer(spec: MemcachedSpec, isTakenOver: boolean): Fields {
  const { monitoring, security } = spec;
  const { tls } = security ?? {};
  const mounts = tls?.enabled === true && tls.enableClientCert === true ? [TLS_MOUNT] : undefined;
  return present({
    name: 'exporter',
    image: monitoring?.exporterImage,
    args: isTakenOver ? undefined : exporterArguments(spec),
    resources: isTakenOver ? monitoring?.exporterResources : exporterResources(spec),
    securityContext: security?.containerSecurityContext,
    volumeMounts: isTakenOver ? undefined : mounts,
    ports: [{ name: EXPORTER_PORT.name, containerPort: EXPORTER_PORT.port, protocol: 'TCP' }],
  });
}

/** One pod a node, preferably or always. */
function antiAffinity(name: string, { highAvailability }: MemcachedSpec): Fields | undefined {
  if (highAvailability === undefined) return undefined;
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: {
      matchLabels: { 'app.kubernetes.io/name': 'memcached', 'app.kubernetes.io/instance': name },
    },
  };
  return {
    podAntiAffinity:
      highAvailability.antiAffinityPreset === 'hard'
        ? { requiredDuringSchedulingIgnoredDuringExecution: [term] }
        : { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
  };
}

const SASL_MOUNT = { name: 'sasl-credentials', mountPath: SASL_PATH, readOnly: true } as const;
const TLS_MOUNT = { name: 'tls-certificates', mountPath: TLS_PATH, readOnly: true } as const;

/** Each Secret as a volume, with its place in the container. */
function volumesOf({ security }: MemcachedSpec): readonly { volume: object; mount: object }[] {
  const { sasl, tls } = security ?? {};
  const volume = (mount: typeof SASL_MOUNT | typeof TLS_MOUNT, secretName: string, keys: readonly string[]) => ({
    volume: { name: mount.name, secret: { secretName, items: keys.map((key) => ({ key, path: key })) } },
    mount,
  });
  return [
    ...(sasl?.enabled === true ? [volume(SASL_MOUNT, sasl.credentialsSecretRef?.name ?? '', PASSWORD_KEYS)] : []),
    ...(tls?.enabled === true
      ? [volume(TLS_MOUNT, tls.certificateSecretRef?.name ?? '', certificateKeys({ security }))]
      : []),
  ];
}
