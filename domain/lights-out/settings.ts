import {
  ADDRESS_FORM,
  boolean,
  BOOLEAN_FORM,
  constant,
  listenAddress,
  nameList,
  parsed,
  PATH,
  splitList,
  timing,
} from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

/** A resource in the plural and its group. */
const DEFINITION_NAME = /^[a-z0-9][-a-z0-9]*(?:\.[a-z0-9][-a-z0-9]*)+$/;
const definitionList = parsed(splitList).refine((names) => names.every((name) => DEFINITION_NAME.test(name)));

const scheduleSettings = {
  enabled: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description: 'Whether LightsOutSchedules are followed; their definition must be in the cluster.',
    env: 'HEADROOM_LIGHTS_OUT',
    flag: '--lights-out',
    isSwitch: true,
    default: 'false',
  },
  protectedNamespaces: {
    type: nameList,
    expected: 'names of namespaces, separated by commas',
    description:
      "Namespaces that no schedule touches, beside the system's, Headroom's own and the one that TEMPORAL_ADDRESS names.",
    env: 'HEADROOM_LIGHTS_OUT_PROTECTED_NAMESPACES',
    flag: '--lights-out-protected-namespaces',
    default: 'temporal,temporal-system',
    isList: true,
  },
  gitopsManagers: {
    type: nameList,
    expected: 'field managers, separated by commas',
    description: "Field managers whose writes are not a person's: what they scale up at night is scaled down again.",
    env: 'HEADROOM_LIGHTS_OUT_GITOPS_MANAGERS',
    flag: '--lights-out-gitops-managers',
    default: 'argocd-controller,argocd-application-controller,kustomize-controller,helm-controller',
    isList: true,
  },
  scaledOwners: {
    type: definitionList,
    expected: 'names of CustomResourceDefinitions, such as widgets.example.com, separated by commas',
    description:
      'Kinds whose number of replicas is set through /scale in place of that of the workloads that they own.',
    env: 'HEADROOM_LIGHTS_OUT_SCALED_OWNERS',
    flag: '--lights-out-scaled-owners',
    isList: true,
    entries: DEFINITION_NAME,
  },
  webhookAddress: {
    type: listenAddress,
    expected: ADDRESS_FORM,
    description:
      'Where the starter serves the admission webhooks of LightsOutSchedules, with TLS. Absent: it does not.',
    env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_ADDRESS',
    flag: '--lights-out-webhook-address',
    isForWebhooks: true,
  },
  webhookCertificate: {
    type: PATH,
    expected: 'the path of a folder with tls.crt and tls.key',
    description:
      'A mounted certificate of the webhooks, read again when it changes. Without it the starter makes and renews its own.',
    env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_CERTIFICATE',
    flag: '--lights-out-webhook-certificate',
  },
  webhookHost: {
    type: PATH,
    expected: 'a DNS name or an IP address',
    description: 'The name that the API server calls the webhooks by, for which the starter makes a certificate.',
    env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_HOST',
    flag: '--lights-out-webhook-host',
    constant: {
      why: 'The Service of the webhooks has this name in everything that is deployed.',
      value: 'headroom-lights-out.<namespace>.svc',
    },
  },
  retryMin: constant(
    timing(
      'lights-out-retry-min',
      '15s',
      'When a workload that could not be written is tried again; twice as long each time.',
    ),
    'It doubles, so that where it begins matters for a minute.',
  ),
  retryMax: constant(
    timing('lights-out-retry-max', '10m', 'The longest time between two tries of such a workload.'),
    'Nobody waits longer than that for a workload that can be written again.',
  ),
  contestedMin: constant(
    timing(
      'lights-out-contested-min',
      '1m',
      'How long a workload that GitOps scales up again and again stays up at first; twice as long each time after that.',
    ),
    'It doubles, so that where it begins matters for a few minutes.',
  ),
  contestedMax: constant(
    timing('lights-out-contested-max', '1h', 'The longest time that such a workload stays up.'),
    'The status of the schedule says who fights over a workload; once an hour costs nothing.',
  ),
} as const satisfies Settings;

export const lightsOutSettings = defineSettings(
  { lightsOut: 'Workloads that sleep' },
  { lightsOut: scheduleSettings },
  [
    'lightsOut.enabled',
    'lightsOut.protectedNamespaces',
    'lightsOut.gitopsManagers',
    'lightsOut.scaledOwners',
    'lightsOut.retryMin',
    'lightsOut.retryMax',
    'lightsOut.contestedMin',
    'lightsOut.contestedMax',
  ],
);
