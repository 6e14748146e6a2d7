/**
 * Types of Kubernetes that a Memcached passes on to its objects. Their own rules are left to the API server; unknown
 * fields are passed on as well.
 */
import { z } from 'zod';
import { labelSelector } from '../../kernel/label-selector-schema.ts';

const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
const quantity = z.union([z.int(), z.string().regex(QUANTITY)]);
const texts = z.array(z.string());

export const intOrString = z.union([z.int(), z.string()]);

export const resourceRequirements = z.looseObject({
  claims: z.array(z.looseObject({ name: z.string(), request: z.string().optional() })).optional(),
  limits: z.record(z.string(), quantity).optional(),
  requests: z.record(z.string(), quantity).optional(),
});

export const topologySpreadConstraint = z.looseObject({
  labelSelector: labelSelector.optional(),
  matchLabelKeys: texts.optional(),
  maxSkew: z.int(),
  minDomains: z.int().optional(),
  nodeAffinityPolicy: z.string().optional(),
  nodeTaintsPolicy: z.string().optional(),
  topologyKey: z.string(),
  whenUnsatisfiable: z.string(),
});

const profile = z.looseObject({ localhostProfile: z.string().optional(), type: z.string() });

/** What the contexts of pods and of containers have in common. */
const sharedContext = {
  appArmorProfile: profile.optional(),
  runAsGroup: z.int().optional(),
  runAsNonRoot: z.boolean().optional(),
  runAsUser: z.int().optional(),
  seLinuxOptions: z
    .looseObject({
      level: z.string().optional(),
      role: z.string().optional(),
      type: z.string().optional(),
      user: z.string().optional(),
    })
    .optional(),
  seccompProfile: profile.optional(),
  windowsOptions: z
    .looseObject({
      gmsaCredentialSpec: z.string().optional(),
      gmsaCredentialSpecName: z.string().optional(),
      hostProcess: z.boolean().optional(),
      runAsUserName: z.string().optional(),
    })
    .optional(),
};

export const podSecurityContext = z.looseObject({
  ...sharedContext,
  fsGroup: z.int().optional(),
  fsGroupChangePolicy: z.string().optional(),
  seLinuxChangePolicy: z.string().optional(),
  supplementalGroups: z.array(z.int()).optional(),
  supplementalGroupsPolicy: z.string().optional(),
  sysctls: z.array(z.looseObject({ name: z.string(), value: z.string() })).optional(),
});

export const containerSecurityContext = z.looseObject({
  ...sharedContext,
  allowPrivilegeEscalation: z.boolean().optional(),
  capabilities: z.looseObject({ add: texts.optional(), drop: texts.optional() }).optional(),
  privileged: z.boolean().optional(),
  procMount: z.string().optional(),
  readOnlyRootFilesystem: z.boolean().optional(),
});

const metricTarget = z.looseObject({
  averageUtilization: z.int().optional(),
  averageValue: quantity.optional(),
  type: z.string(),
  value: quantity.optional(),
});
const metricName = z.looseObject({ name: z.string(), selector: labelSelector.optional() });

export const metricSpec = z.looseObject({
  containerResource: z.looseObject({ container: z.string(), name: z.string(), target: metricTarget }).optional(),
  external: z.looseObject({ metric: metricName, target: metricTarget }).optional(),
  object: z
    .looseObject({
      describedObject: z.looseObject({ apiVersion: z.string().optional(), kind: z.string(), name: z.string() }),
      metric: metricName,
      target: metricTarget,
    })
    .optional(),
  pods: z.looseObject({ metric: metricName, target: metricTarget }).optional(),
  resource: z.looseObject({ name: z.string(), target: metricTarget }).optional(),
  type: z.string(),
});

const scalingRules = z.looseObject({
  policies: z.array(z.looseObject({ periodSeconds: z.int(), type: z.string(), value: z.int() })).optional(),
  selectPolicy: z.string().optional(),
  stabilizationWindowSeconds: z.int().optional(),
  tolerance: quantity.optional(),
});

export const scalingBehavior = z.looseObject({
  scaleDown: scalingRules.optional(),
  scaleUp: scalingRules.optional(),
});

export const networkPolicyPeer = z.looseObject({
  ipBlock: z.looseObject({ cidr: z.string(), except: texts.optional() }).optional(),
  namespaceSelector: labelSelector.optional(),
  podSelector: labelSelector.optional(),
});

/** A Secret in the same namespace. */
export const secretReference = z.looseObject({ name: z.string().default('').describe('The name of the Secret.') });
