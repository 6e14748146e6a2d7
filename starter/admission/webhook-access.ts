/** What a starter needs for admission webhooks whose certificate it makes itself. */
import type { Access, WriteCondition } from '../../platform/kubernetes/access.ts';

/** CEL: the same webhooks, each with the same fields, and of `clientConfig` the same but for `caBundle`. */
const ONLY_CA_BUNDLES: WriteCondition = {
  expression: [
    'object.?webhooks.orValue([]).size() == oldObject.?webhooks.orValue([]).size() && ',
    'object.?webhooks.orValue([]).all(new, oldObject.?webhooks.orValue([]).exists(old, old.name == new.name && ',
    "dyn(new).all(k, k == 'clientConfig' || (k in dyn(old) && dyn(new)[k] == dyn(old)[k])) && ",
    'dyn(old).all(k, k in dyn(new)) && ',
    "dyn(new.clientConfig).all(k, k == 'caBundle' || (k in dyn(old.clientConfig) && ",
    'dyn(new.clientConfig)[k] == dyn(old.clientConfig)[k])) && ',
    "dyn(old.clientConfig).all(k, k == 'caBundle' || k in dyn(new.clientConfig))))",
  ].join(''),
  message: 'may change nothing of these webhooks but caBundle',
};

const BOTH = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const;

/**
 * @param component the part of the chart with what is granted.
 * @param name of the webhook configurations; the Secret is called `<name>-tls`.
 * @param configurations those that there are of this name.
 */
export function webhookAccess(
  component: string,
  name: string,
  configurations: readonly (typeof BOTH)[number][] = BOTH,
): Access {
  return {
    component,
    about: 'What the starter needs to make the certificate of its webhooks itself, and to tell the API server of it.',
    everywhere: [
      {
        why: `caBundle: by which certificate the API server knows the starter. Its own ${configurations.length === BOTH.length ? 'two configurations' : 'configuration'} only.`,
        apiGroups: ['admissionregistration.k8s.io'],
        resources: configurations,
        resourceNames: [name],
        verbs: ['get', 'patch'],
        changes: ['webhooks'],
        conditions: [ONLY_CA_BUNDLES],
      },
    ],
    inSystemNamespace: [
      {
        why: 'The key and certificate that all starters share. It is deployed empty. get: what another starter made. update: the first one, and a new one before the old one is over.',
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: [`${name}-tls`],
        verbs: ['get', 'update'],
        changes: ['data'],
      },
    ],
  };
}
