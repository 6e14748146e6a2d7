import { z } from 'zod';
import {
  ADDRESS_FORM,
  boolean,
  BOOLEAN_FORM,
  constant,
  httpUrl,
  listenAddress,
  matching,
  PATH,
} from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

/** The VPSie autoscaler's. */
export const DEFAULT_VPSIE_SECRET = 'vpsie-secret';

const groupSettings = {
  enabled: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description: 'Whether NodeGroups are followed, where the cluster has their definition.',
    env: 'HEADROOM_NODE_GROUPS',
    flag: '--node-groups',
    isSwitch: true,
    default: 'false',
  },
  mode: {
    type: z.enum(['observe', 'act']),
    expected: '"observe" or "act"',
    description:
      'The mode of NodeGroups without a mode of their own: observe (only say what would be done, and why) or act.',
    env: 'HEADROOM_NODE_GROUPS_MODE',
    flag: '--node-groups-mode',
    default: 'observe',
  },
  vpsieSecret: constant(
    {
      type: matching(/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/),
      expected: 'the name of a Secret',
      description:
        'The Secret in kube-system with the credentials of VPSie (docs/node-groups.md). The role that reads it names it as well.',
      env: 'HEADROOM_NODE_GROUPS_VPSIE_SECRET',
      flag: '--node-groups-vpsie-secret',
      default: DEFAULT_VPSIE_SECRET,
    },
    'The role that reads the Secret names it, so that another name would need another role as well.',
  ),
  vpsieUrl: constant(
    {
      type: httpUrl,
      expected: 'an http or https URL',
      description: 'Where the API of VPSie is, unless the Secret has a url.',
      env: 'HEADROOM_NODE_GROUPS_VPSIE_URL',
      flag: '--node-groups-vpsie-url',
      default: 'https://api.vpsie.com/v2',
    },
    'The url of the Secret wins over it; set another address there.',
  ),
  webhookAddress: {
    type: listenAddress,
    expected: ADDRESS_FORM,
    description: 'Where the starter serves the admission webhook of NodeGroups, with TLS. Absent: it does not.',
    env: 'HEADROOM_NODE_GROUPS_WEBHOOK_ADDRESS',
    flag: '--node-groups-webhook-address',
    isForWebhooks: true,
  },
  webhookCertificate: {
    type: PATH,
    expected: 'the path of a folder with tls.crt and tls.key',
    description:
      'A mounted certificate of the webhook, read again when it changes. Without it the starter makes and renews its own.',
    env: 'HEADROOM_NODE_GROUPS_WEBHOOK_CERTIFICATE',
    flag: '--node-groups-webhook-certificate',
  },
  webhookHost: {
    type: PATH,
    expected: 'a DNS name or an IP address',
    description: 'The name that the API server calls the webhook by, for which the starter makes a certificate.',
    env: 'HEADROOM_NODE_GROUPS_WEBHOOK_HOST',
    flag: '--node-groups-webhook-host',
    constant: {
      why: 'The Service of the webhooks has this name in everything that is deployed.',
      value: 'headroom-node-group.<namespace>.svc',
    },
  },
} as const satisfies Settings;

export const nodeGroupSettings = defineSettings({ nodeGroups: 'Node groups' }, { nodeGroups: groupSettings }, [
  'nodeGroups.enabled',
  'nodeGroups.mode',
]);
