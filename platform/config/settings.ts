import { z } from 'zod';
import {
  ADDRESS_FORM,
  boolean,
  BOOLEAN_FORM,
  constant,
  httpUrl,
  integerBetween,
  listenAddress,
  matching,
  numberBetween,
  PATH,
  text,
  timing,
} from '../../domain/kernel/settings/forms.ts';
import type { GroupValues, Setting, SettingGroups, SettingsDefinition } from '../../domain/kernel/settings/setting.ts';

/** The settings that every process has, whatever controllers it runs. The names of the environment are a published interface. */
export const platformSettings = {
  kubernetes: {
    clusterName: {
      type: matching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/),
      expected: 'at most 63 letters, digits, "-", "." and "_", with a letter or digit at both ends, such as prod-eu-1',
      description: "The cluster's name: part of every workflow id and task queue, and of the path in the repository.",
      env: 'CLUSTER_NAME',
      flag: '--cluster-name',
      required: true,
    },
    kubeconfig: {
      type: PATH,
      expected: 'the path of a kubeconfig file',
      description: 'The kubeconfig to use. Without it the service account of the pod is used.',
      env: 'KUBECONFIG',
      flag: '--kubeconfig',
    },
    context: {
      type: PATH,
      expected: 'the name of a context of the kubeconfig',
      description: "The kubeconfig's context, instead of its current one.",
      env: 'HEADROOM_CONTEXT',
      flag: '--context',
    },
    systemNamespace: {
      type: matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
      expected: 'the name of a namespace: at most 63 lower-case letters, digits and "-"',
      description: 'The namespace of the Leases and of the global pause.',
      env: 'SYSTEM_NAMESPACE',
      flag: '--system-namespace',
      default: 'namespace-resizer-system',
    },
    writePolicy: {
      type: z.enum(['required', 'observed']),
      expected: 'required or observed',
      description:
        'While the policy of writes is not proved: `required` writes nothing, `observed` says so (docs/operations/shared.md).',
      env: 'HEADROOM_WRITE_POLICY',
      flag: '--write-policy',
      default: 'observed',
    },
  },
  network: {
    caFile: {
      type: PATH,
      expected: 'the path of a PEM file with the certificates of authorities',
      description:
        "Authorities to trust beside the system's, for GitHub, Temporal and providers, unless another setting names theirs.",
      env: 'HEADROOM_CA_FILE',
      flag: '--ca-file',
    },
  },
  temporal: {
    address: {
      type: matching(/^(?:[^\s:/@[\]]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/),
      expected: 'host:port without a scheme, such as temporal-frontend.temporal:7233',
      description: "The address of Temporal's frontend.",
      env: 'TEMPORAL_ADDRESS',
      flag: '--temporal-address',
      default: 'localhost:7233',
    },
    namespace: {
      type: matching(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
      expected: 'the name of a Temporal namespace, such as default',
      description: 'The Temporal namespace.',
      env: 'TEMPORAL_NAMESPACE',
      flag: '--temporal-namespace',
      default: 'default',
    },
    apiKey: {
      type: text.min(1),
      expected: 'an API key',
      description: 'The API key for Temporal; it switches TLS on.',
      env: 'TEMPORAL_API_KEY',
      secret: true,
    },
    apiKeyFile: {
      type: PATH,
      expected: 'the path of a file with an API key for Temporal',
      description: 'A file with the API key, read again when it changes: a key is replaced without a restart.',
      env: 'TEMPORAL_API_KEY_FILE',
      flag: '--temporal-api-key-file',
    },
    tls: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description: 'Whether to connect with TLS. A certificate or an API key switches it on as well.',
      env: 'TEMPORAL_TLS',
      flag: '--temporal-tls',
      isSwitch: true,
    },
    tlsClientCertPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The client's certificate, for mutual TLS.",
      env: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
      flag: '--temporal-tls-client-cert-path',
    },
    tlsClientKeyPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The client's private key, for mutual TLS.",
      env: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
      flag: '--temporal-tls-client-key-path',
    },
    tlsServerCaCertPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The certificate authority of Temporal's certificate.",
      env: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      flag: '--temporal-tls-server-ca-cert-path',
    },
    tlsServerName: {
      type: text.min(1),
      expected: 'a host name',
      description: "The name to expect in Temporal's certificate.",
      env: 'TEMPORAL_TLS_SERVER_NAME',
      flag: '--temporal-tls-server-name',
    },
    deploymentName: {
      // Temporal joins name and build id by a dot or a colon, and keeps names with two underscores for itself.
      type: matching(/^(?!__)[^.:\s]{1,200}$/),
      expected: 'a name without "." and ":", such as headroom-prod-eu-1',
      description:
        'The worker deployment that workers are a version of. Without it, workflows run on every worker that is there.',
      env: 'TEMPORAL_DEPLOYMENT_NAME',
      flag: '--temporal-deployment-name',
    },
    uiUrl: {
      type: httpUrl,
      expected: 'an http or https address, such as https://temporal.example.com',
      description: "The address of Temporal's UI, for the link to the workflow in every pull request.",
      env: 'TEMPORAL_UI_URL',
      flag: '--temporal-ui-url',
    },
  },
  timings: {
    requestTimeout: constant(
      timing('request-timeout', '30s', 'How long a request to Kubernetes or GitHub may take.', '100ms'),
      'No answer takes that long; it ends requests that nobody answers.',
    ),
  },
  worker: {
    maxCachedWorkflows: {
      type: integerBetween(0, 100_000),
      expected: 'a number from 0 to 100000',
      // A cached workflow was measured at 331 KB: 500 of them take 165 MB.
      description: 'How many workflows stay in memory between their tasks, at about a third of a megabyte each.',
      env: 'HEADROOM_MAX_CACHED_WORKFLOWS',
      flag: '--max-cached-workflows',
      default: '500',
    },
    maxConcurrentActivities: constant(
      {
        type: integerBetween(1, 10_000),
        expected: 'a number from 1 to 10000',
        description: 'How many activities of each controller run at once.',
        env: 'HEADROOM_MAX_CONCURRENT_ACTIVITIES',
        flag: '--max-concurrent-activities',
        default: '100',
      },
      'Activities wait for others, and a hundred of them do not fill one core.',
    ),
    maxConcurrentWorkflowTasks: constant(
      {
        // The SDK rejects 1 while workflows are cached: no slot would be left for a task that is not sticky.
        type: integerBetween(2, 10_000),
        expected: 'a number from 2 to 10000',
        description: 'How many workflow tasks run at once.',
        env: 'HEADROOM_MAX_CONCURRENT_WORKFLOW_TASKS',
        flag: '--max-concurrent-workflow-tasks',
        default: '40',
      },
      'All workflow tasks share one thread; more at once would not be faster.',
    ),
  },
  starter: {
    hintsPerSecond: constant(
      {
        // Temporal's dev server on a file database was measured at 95 starts by signal a second.
        type: numberBetween(0.1, 10_000),
        expected: 'a number from 0.1 to 10000',
        description: 'How many workflows are started or woken a second, at most.',
        env: 'HEADROOM_HINTS_PER_SECOND',
        flag: '--hints-per-second',
        default: '50',
      },
      "It protects a small Temporal from a starter's first list; people would not notice that a large one is faster.",
    ),
    resyncInterval: constant(
      timing('resync-interval', '10m', 'How often every quota is reconciled without any change.', '1s'),
      'Changes are watched; this is only for what no watch tells.',
    ),
  },
  overview: {
    address: constant(
      {
        type: listenAddress,
        expected: ADDRESS_FORM,
        description: 'Where the starter serves the overview.',
        env: 'HEADROOM_OVERVIEW_ADDRESS',
        flag: '--overview-address',
        default: '127.0.0.1:0',
        podDefault: '127.0.0.1:8083',
      },
      'It is reached with kubectl port-forward.',
    ),
    certificate: {
      type: PATH,
      expected: 'the path of a folder with tls.crt and tls.key',
      description:
        'A certificate that opens the overview to others (docs/overview.md). Without it, it is served on loopback only.',
      env: 'HEADROOM_OVERVIEW_CERTIFICATE',
      flag: '--overview-certificate',
    },
    openAddress: constant(
      {
        type: listenAddress,
        expected: ADDRESS_FORM,
        description: 'Where the overview is served with a certificate.',
        env: 'HEADROOM_OVERVIEW_OPEN_ADDRESS',
        flag: '--overview-open-address',
        default: '127.0.0.1:0',
        podDefault: '0.0.0.0:8444',
      },
      'The Service and the NetworkPolicy name it.',
    ),
  },
  process: {
    logLevel: {
      type: z.enum(['trace', 'debug', 'info', 'warn', 'error']),
      expected: 'trace, debug, info, warn or error',
      description: 'The least important log lines that are written.',
      env: 'LOG_LEVEL',
      flag: '--log-level',
      default: 'info',
    },
    auditLog: {
      type: PATH,
      expected: 'the path of a file',
      description:
        'A file that the lines of the audit log (field `audit`) are added to, besides the log, for keeping them longer.',
      env: 'HEADROOM_AUDIT_LOG',
      flag: '--audit-log',
    },
    healthAddress: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: 'Where /healthz and /readyz are served.',
      env: 'HEALTH_ADDRESS',
      flag: '--health-address',
      default: '127.0.0.1:0',
      podDefault: '0.0.0.0:8081',
    },
    metricsAddress: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: 'Where /metrics is served for Prometheus.',
      env: 'METRICS_ADDRESS',
      flag: '--metrics-address',
      default: '127.0.0.1:0',
      podDefault: '0.0.0.0:9090',
    },
    shutdownGrace: constant(
      timing('shutdown-grace', '20s', 'How long work in progress may take to end at a shutdown.', '0'),
      'It fits into the 30 seconds that Kubernetes gives a pod; what does not end goes on in another worker.',
    ),
  },
} as const satisfies SettingGroups;

export const platformTitles: Readonly<Record<keyof typeof platformSettings, string>> = {
  kubernetes: 'Kubernetes',
  network: 'The network',
  temporal: 'Temporal',
  timings: 'Spans of time',
  worker: 'The worker',
  starter: 'The starter',
  overview: 'The overview',
  process: 'The process',
};

export type PlatformValues = GroupValues<typeof platformSettings>;

/** The setting that names the configuration file; it cannot be in the file itself. */
export const configFileSetting = {
  type: PATH,
  expected: 'the path of a YAML file',
  description: 'A YAML file with any of the settings below, except secrets.',
  env: 'HEADROOM_CONFIG',
  flag: '--config',
} as const satisfies Setting;

/** A setting with its place. */
export interface SettingEntry {
  readonly group: string;
  readonly key: string;
  /** `<group>.<key>`, its path in the configuration file and in `Config`. */
  readonly path: string;
  readonly setting: Setting;
  /** Whether a worker reports it to the command line. A secret never is. */
  readonly isReported: boolean;
}

/** Whether users may set it; otherwise it is a constant. */
export function isSetting({ setting }: SettingEntry): boolean {
  return setting.constant === undefined;
}

/** What is said to whoever sets a constant, after the name that they used. */
export function constantRefusal({ constant, default: value = constant?.value }: Setting): string {
  return `is a constant, ${value}: leave it out`;
}

/** Every setting and constant of these definitions with its path, in the order of the documentation: what is of one group together. */
export function entriesOf(definitions: readonly SettingsDefinition[]): readonly SettingEntry[] {
  const entry = definitions.flatMap(({ groups, reported }) =>
    Object.entries(groups).flatMap(([group, members]) =>
      Object.entries(members).map(([key, setting]) => {
        const path = `${group}.${key}`;
        const isReported =
          setting.secret !== true &&
          setting.constant === undefined &&
          (reported.includes(group) || reported.includes(path));
        return { group, key, path, setting, isReported };
      }),
    ),
  );
  return [...Map.groupBy(entry, ({ group }) => group).values()].flat();
}
