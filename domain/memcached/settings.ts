import {
  ADDRESS_FORM,
  boolean,
  BOOLEAN_FORM,
  constant,
  listenAddress,
  matching,
  PATH,
} from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

const instanceSettings = {
  enabled: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description: 'Whether Memcacheds are run, where the cluster has their definition.',
    env: 'HEADROOM_MEMCACHED',
    flag: '--memcached',
    isSwitch: true,
    default: 'false',
  },
  formerNamespace: constant(
    {
      type: matching(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/),
      expected: 'the name of a namespace, such as memcached-operator-system',
      description:
        'Where the memcached operator of C5C3 ran: while it renews its Lease there, nothing is written for a Memcached.',
      env: 'HEADROOM_MEMCACHED_FORMER_NAMESPACE',
      flag: '--memcached-former-namespace',
      default: 'memcached-operator-system',
    },
    'Its own manifests install it there, and Headroom looks there for its Lease before it writes.',
  ),
  webhookAddress: {
    type: listenAddress,
    expected: ADDRESS_FORM,
    description: 'Where the starter serves the admission webhooks of Memcacheds, with TLS. Absent: it does not.',
    env: 'HEADROOM_MEMCACHED_WEBHOOK_ADDRESS',
    flag: '--memcached-webhook-address',
    isForWebhooks: true,
  },
  webhookCertificate: {
    type: PATH,
    expected: 'the path of a folder with tls.crt and tls.key',
    description:
      'A mounted certificate of the webhooks, read again when it changes. Without it the starter makes and renews its own.',
    env: 'HEADROOM_MEMCACHED_WEBHOOK_CERTIFICATE',
    flag: '--memcached-webhook-certificate',
  },
  webhookHost: {
    type: PATH,
    expected: 'a DNS name or an IP address',
    description: 'The name that the API server calls the webhooks by, for which the starter makes a certificate.',
    env: 'HEADROOM_MEMCACHED_WEBHOOK_HOST',
    flag: '--memcached-webhook-host',
    constant: {
      why: 'The Service of the webhooks has this name in everything that is deployed.',
      value: 'headroom-memcached.<namespace>.svc',
    },
  },
} as const satisfies Settings;

export const memcachedSettings = defineSettings({ memcached: 'Caches that scale' }, { memcached: instanceSettings }, [
  'memcached.enabled',
  'memcached.formerNamespace',
]);
