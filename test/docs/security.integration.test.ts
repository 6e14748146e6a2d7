/** Each line of the README about security says what the chart allows, with whatever is switched on. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rendered } from '../deploy/rendered.ts';
import { type ChartValues, EVERY_RIGHT } from '../kernel/stack/chart.ts';
import { isWrite, linesOf, type Right, rightsOf, SYSTEM, writePolicyOf } from '../deploy/rights.ts';
import { read, sectionOf } from './reading.ts';

const LIGHTS_OUT = { lightsOut: { enabled: true } };
const MEMCACHED = { memcached: { enabled: true } };
const NODE_GROUPS = { nodeGroups: { enabled: true } };
const ALL_THREE = { ...LIGHTS_OUT, ...MEMCACHED, ...NODE_GROUPS };
const AUDIT = { quotaUsage: { mode: 'audit' } };
const NONE = { webhooks: { certificates: 'none' } } as const;

/** What can be switched on, each as the values that do it. */
const SWITCHES = {
  'quotaUsage.mode: audit': { config: AUDIT },
  'quotaUsage.mode: own': { config: { quotaUsage: { mode: 'own' } } },
  lightsOut: { config: LIGHTS_OUT, ...NONE },
  'lightsOut.scaledOwners': {
    config: { lightsOut: { ...LIGHTS_OUT.lightsOut, scaledOwners: ['widgets.example.com'] } },
    ...NONE,
  },
  memcached: { config: MEMCACHED, ...NONE },
  nodeGroups: { config: NODE_GROUPS, ...NONE },
  'webhooks.certificates: self': { config: ALL_THREE, webhooks: { certificates: 'self' } },
  'webhooks.certificates: cert-manager': { config: ALL_THREE, webhooks: { certificates: 'cert-manager' } },
  'rights.countSecrets': { config: AUDIT, rights: { countSecrets: true } },
  'rights.memcachedSecrets': { config: MEMCACHED, ...NONE, rights: { memcachedSecrets: ['team-a'] } },
  'rights.kwokNodes': { config: NODE_GROUPS, ...NONE, rights: { kwokNodes: true } },
} as const satisfies Readonly<Record<string, ChartValues>>;
type Switch = keyof typeof SWITCHES;
const names = Object.keys(SWITCHES) as readonly Switch[];

const DEFAULT = await rendered();
const BY_SWITCH = new Map(
  await Promise.all(names.map(async (name) => [name, await rendered(SWITCHES[name])] as const)),
);
/** Everything, with either kind of certificate, and the overview closed and opened. */
const RENDERS = [
  await rendered(EVERY_RIGHT),
  await rendered({
    ...EVERY_RIGHT,
    ...SWITCHES['webhooks.certificates: cert-manager'],
    overview: { certificate: 'overview-tls' },
  }),
];
const ALL_RIGHTS = [DEFAULT, ...BY_SWITCH.values(), ...RENDERS].flatMap(rightsOf);
const BASE_RIGHTS = rightsOf(DEFAULT).filter(isWrite);
const BASE = linesOf(BASE_RIGHTS);
const OWN_GROUPS = ['lightsout.techsupport.mk', 'memcached.c5c3.io', 'autoscaler.vpsie.com'];
const policies = { worker: writePolicyOf('worker', DEFAULT), starter: writePolicyOf('starter', DEFAULT) };

const isOwnKind = ({ resource }: Right): boolean => OWN_GROUPS.some((group) => resource.startsWith(`${group}/`));

/** Whether it is for one object where all objects of the resource may be written without any switch. */
function isOneOfAll({ names: only, process, verb, resource, namespace }: Right): boolean {
  const isSame = (base: Right) =>
    base.names.length === 0 && JSON.stringify([base.process, base.verb, base.resource, base.namespace]) === of;
  const of = JSON.stringify([process, verb, resource, namespace]);
  return only.length > 0 && BASE_RIGHTS.some(isSame);
}

function rightsWith(name: Switch): readonly Right[] {
  return rightsOf(BY_SWITCH.get(name) ?? []);
}

/** What a switch lets Headroom write that it may not write without it, but objects of Headroom's own kinds. */
function added(name: Switch): readonly string[] {
  const isNew = (right: Right) => isWrite(right) && !isOwnKind(right) && !isOneOfAll(right);
  return linesOf(rightsWith(name).filter(isNew)).filter((line) => !BASE.includes(line));
}

/** The entries of the worker's policy for a resource, by the kind of the owner; '' is anybody's. */
function entriesOf(resource: string) {
  const entries = [...policies.worker.writes].filter(([key]) => key === resource || key.startsWith(`${resource} of `));
  return new Map(entries.map(([key, entry]) => [key.slice(`${resource} of `.length), entry] as const));
}

const FIELDS_OF_LIGHTS_OUT =
  /^(?:spec\.(?:replicas|suspend|minReplicas|maxReplicas)|metadata\.annotations\.autoscaling\.keda\.sh\/paused(?:-replicas)?|metadata\.(?:annotations|labels)\.lightsout\.techsupport\.mk\/[\w-]+)$/;

/** What anybody has and schedules put to sleep. */
function patchedByLightsOut(): readonly string[] {
  return added('lightsOut').flatMap((line) => /^worker: (\S+) patch$/.exec(line)?.[1] ?? []);
}

const claims: readonly (readonly [line: string, holds: () => void])[] = [
  [
    'With no controller switched on, Headroom creates Events, writes Leases and the ConfigMap `headroom-pauses` in its own namespace (`namespace-resizer-system`), and writes nothing else in the cluster.',
    () => {
      expect(BASE).toEqual([
        `worker: configmaps(headroom-pauses) in ${SYSTEM} patch`,
        `worker: coordination.k8s.io/leases in ${SYSTEM} create, delete, update`,
        'worker: events create',
      ]);
    },
  ],
  [
    'No value lets Headroom change the spec of a ResourceQuota. With `quotaUsage.mode: own` the starter writes the status of quotas and one Lease; `audit` lets it write nothing.',
    () => {
      expect(
        linesOf(ALL_RIGHTS.filter(({ resource }) => resource.startsWith('resourcequotas')).filter(isWrite)),
      ).toEqual(['starter: resourcequotas/status patch']);
      expect(added('quotaUsage.mode: own')).toEqual([
        `starter: coordination.k8s.io/leases in ${SYSTEM} create, update`,
        'starter: resourcequotas/status patch',
      ]);
      expect(added('quotaUsage.mode: audit')).toEqual([]);
      expect(policies.starter.writes.get('resourcequotas/status')?.changes).toEqual(['status']);
      expect(policies.starter.validations.map(({ message }) => message)).toContain(
        'headroom-starter writes no other Lease than quota-usage-owner',
      );
    },
  ],
  [
    "With `lightsOut` the worker patches Deployments, StatefulSets, CronJobs and their status, Rollouts, ScaledJobs, ScaledObjects and HorizontalPodAutoscalers in every namespace: replicas, `suspend`, pauses, bounds, Headroom's own annotations and labels, and `/scale` of the kinds in `scaledOwners`. It creates and deletes none of them. It keeps ConfigMaps in its own namespace.",
    () => {
      expect(added('lightsOut')).toEqual([
        'worker: apps/deployments patch',
        'worker: apps/statefulsets patch',
        'worker: argoproj.io/rollouts patch',
        'worker: autoscaling/horizontalpodautoscalers patch',
        'worker: batch/cronjobs patch',
        'worker: batch/cronjobs/status patch',
        `worker: configmaps in ${SYSTEM} create, patch`,
        'worker: keda.sh/scaledjobs patch',
        'worker: keda.sh/scaledobjects patch',
      ]);
      expect(added('lightsOut.scaledOwners').filter((line) => !added('lightsOut').includes(line))).toEqual([
        'worker: example.com/widgets/scale patch',
      ]);
      for (const resource of patchedByLightsOut()) {
        const anybodys = entriesOf(resource).get('');
        expect(anybodys?.operations).toEqual(['UPDATE']);
        const changes = anybodys?.changes?.filter((field) => !FIELDS_OF_LIGHTS_OUT.test(field));
        expect(changes).toEqual(resource === 'batch/cronjobs/status' ? ['status'] : []);
      }
    },
  ],
  [
    'With `memcached` the worker creates, patches and deletes Deployments (and so pods), Services, HorizontalPodAutoscalers, PodDisruptionBudgets, NetworkPolicies and ServiceMonitors, and creates and patches ConfigMaps, in every namespace. Their controller must be a Memcached. Of others it can change what item 3 has, and no more.',
    () => {
      const kinds = [
        'apps/deployments',
        'autoscaling/horizontalpodautoscalers',
        'monitoring.coreos.com/servicemonitors',
        'networking.k8s.io/networkpolicies',
        'policy/poddisruptionbudgets',
        'services',
      ];
      expect(added('memcached')).toEqual(
        [
          ...kinds.map((kind) => `worker: ${kind} create, delete, patch`),
          'worker: configmaps create, patch',
        ].toSorted(),
      );
      // The policy is applied whole: what lights-out changes of any object, line 3, is admitted with memcached alone.
      for (const kind of [...kinds, 'configmaps']) {
        const { '': anybodys, ...owned } = Object.fromEntries(entriesOf(kind));
        expect(Object.keys(owned)).toContain('memcached.c5c3.io/Memcached');
        if (kind === 'configmaps') {
          expect(anybodys).toMatchObject({ namespaces: [SYSTEM], names: ['headroom-pauses'] });
          expect(owned['lightsout.techsupport.mk/LightsOutSchedule']).toMatchObject({ namespaces: [SYSTEM] });
        } else expect(anybodys !== undefined).toBe(patchedByLightsOut().includes(kind));
      }
    },
  ],
  [
    'With `nodeGroups` the worker evicts any pod, as far as its PodDisruptionBudget allows, deletes Nodes, and changes of a Node its cordon, taints, labels and drain annotations. Only `rights.kwokNodes`, which is for tests, lets it create Nodes.',
    () => {
      expect(added('nodeGroups')).toEqual(['worker: nodes delete, patch', 'worker: pods/eviction create']);
      expect(added('rights.kwokNodes')).toEqual([
        'worker: nodes create, delete, patch',
        'worker: pods/eviction create',
      ]);
      const creators = names.filter((name) =>
        rightsWith(name).some(({ resource, verb }) => resource === 'nodes' && verb === 'create'),
      );
      expect(creators).toEqual(['rights.kwokNodes']);
      expect(policies.worker.writes.get('nodes')?.changes).toEqual([
        'spec.unschedulable',
        'spec.taints',
        'metadata.labels',
        'metadata.annotations.autoscaler.vpsie.com/drain',
        'metadata.annotations.autoscaler.vpsie.com/drain-start-time',
        'metadata.annotations.autoscaler.vpsie.com/drain-status',
      ]);
      // An eviction is refused by a budget; a deletion would not be.
      expect(linesOf(ALL_RIGHTS.filter((right) => /^pods\b/.test(right.resource) && isWrite(right)))).toEqual([
        'worker: pods/eviction create',
      ]);
    },
  ],
  [
    'Of LightsOutSchedules, Memcacheds and NodeGroups Headroom writes the status and the finalizers, and never the spec. It creates, changes and deletes VPSieNodes, one for each machine.',
    () => {
      const own = linesOf(ALL_RIGHTS.filter((right) => isWrite(right) && isOwnKind(right)));
      expect(own).toEqual([
        'worker: autoscaler.vpsie.com/nodegroups in kube-system patch',
        'worker: autoscaler.vpsie.com/nodegroups/status in kube-system patch',
        'worker: autoscaler.vpsie.com/vpsienodes in kube-system create, delete, patch',
        'worker: autoscaler.vpsie.com/vpsienodes/status in kube-system patch',
        'worker: lightsout.techsupport.mk/lightsoutschedules patch',
        'worker: lightsout.techsupport.mk/lightsoutschedules/status patch',
        'worker: memcached.c5c3.io/memcacheds/finalizers update',
        'worker: memcached.c5c3.io/memcacheds/status patch',
      ]);
      const entries = [...policies.worker.writes].filter(
        ([key]) => OWN_GROUPS.some((group) => key.startsWith(`${group}/`)) && !key.endsWith('/vpsienodes'),
      );
      expect(entries).toHaveLength(own.length - 1);
      for (const [, { operations, changes = [] }] of entries) {
        expect(operations).toEqual(['UPDATE']);
        expect(changes.filter((field) => !/^(?:status$|metadata\.finalizers\b)/.test(field))).toEqual([]);
      }
    },
  ],
  [
    'Four values let Headroom read Secrets through the API: `nodeGroups` (`kube-system/vpsie-secret`), `webhooks.certificates: self` (the Secret of each certificate, which the starter also updates, as well as the `caBundle` of its webhook configurations), `rights.memcachedSecrets` (those of the namespaces that it names) and `rights.countSecrets` (every Secret of the cluster).',
    () => {
      const secretsOf = (name: Switch) => linesOf(rightsWith(name).filter(({ resource }) => resource === 'secrets'));
      const bound = names.map((name) => [name, secretsOf(name)] as const);
      const certificates = ['lights-out', 'memcached', 'node-group'].map(
        (name) => `starter: secrets(headroom-${name}-tls) in ${SYSTEM} get, update`,
      );
      const vpsie = 'worker: secrets(vpsie-secret) in kube-system get';
      expect(rightsOf(DEFAULT).filter(({ resource }) => resource === 'secrets')).toEqual([]);
      expect(bound.filter(([, lines]) => lines.length > 0)).toEqual([
        ['nodeGroups', [vpsie]],
        ['webhooks.certificates: self', [...certificates, vpsie]],
        ['webhooks.certificates: cert-manager', [vpsie]],
        ['rights.countSecrets', ['starter: secrets list, watch']],
        ['rights.memcachedSecrets', ['starter: secrets in team-a list, watch', 'worker: secrets in team-a get']],
        ['rights.kwokNodes', [vpsie]],
      ]);
      // What these values let Headroom write besides.
      const ofThree = new Set([...added('lightsOut'), ...added('memcached'), ...added('nodeGroups')]);
      const isExpected = (line: string) => /^starter: (?:secrets\(|admissionregistration\.k8s\.io\/)/.test(line);
      const besides = (name: Switch) => added(name).filter((line) => !ofThree.has(line));
      expect(besides('webhooks.certificates: self').filter((line) => !isExpected(line))).toEqual([]);
      expect(besides('webhooks.certificates: cert-manager')).toEqual([]);
      expect([...besides('rights.countSecrets'), ...besides('rights.memcachedSecrets')]).toEqual([]);
      const configurations = ALL_RIGHTS.filter(({ resource }) => resource.startsWith('admissionregistration.k8s.io/'));
      expect(linesOf(configurations)).toEqual([
        'starter: admissionregistration.k8s.io/mutatingwebhookconfigurations(headroom-lights-out) get, patch',
        'starter: admissionregistration.k8s.io/mutatingwebhookconfigurations(headroom-memcached) get, patch',
        'starter: admissionregistration.k8s.io/validatingwebhookconfigurations(headroom-lights-out) get, patch',
        'starter: admissionregistration.k8s.io/validatingwebhookconfigurations(headroom-memcached) get, patch',
        'starter: admissionregistration.k8s.io/validatingwebhookconfigurations(headroom-node-group) get, patch',
      ]);
      const messages = policies.starter.validations.map(({ message }) => message);
      expect(messages.filter((message) => message?.endsWith('nothing of these webhooks but caBundle'))).toHaveLength(2);
    },
  ],
  [
    'No value lets Headroom create Secrets, service account tokens or bare Pods, run commands in a Pod, change roles or bindings, or impersonate anybody.',
    () => {
      const verbs = new Set(ALL_RIGHTS.map(({ verb }) => verb));
      expect([...verbs].toSorted()).toEqual(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);
      const forbidden = [
        /^(?:\*|.*\/\*)$/,
        /^secrets$/,
        /^serviceaccounts\b/,
        /^pods(?!\/eviction)/,
        /^rbac\./,
        /^users|^groups/,
      ];
      const written = ALL_RIGHTS.filter(isWrite).filter(({ resource }) =>
        forbidden.some((what) => what.test(resource)),
      );
      expect(linesOf(written)).toEqual(
        ['lights-out', 'memcached', 'node-group'].map(
          (name) => `starter: secrets(headroom-${name}-tls) in ${SYSTEM} update`,
        ),
      );
      expect(ALL_RIGHTS.filter(({ resource }) => /\*|^nodes\/|^pods\/(?!eviction)/.test(resource))).toEqual([]);
    },
  ],
  [
    'Whatever the roles allow, the API server refuses every write of worker and starter that is not among the resources and fields in `deploy/chart/templates/write-policy.yaml`, which is always applied.',
    () => {
      for (const [process, policy] of Object.entries(policies)) {
        expect(policy.failurePolicy).toBe('Fail');
        expect(policy.matchConstraints).toEqual({
          resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
        });
        expect(policy.matchConditions).toEqual([
          {
            name: `is-the-${process}`,
            expression: `request.userInfo.username == 'system:serviceaccount:${SYSTEM}:headroom-${process}'`,
          },
        ]);
        expect(policy.binding).toEqual({ policyName: policy.name, validationActions: ['Deny'] });
        const expressions = policy.validations.map(({ expression }) => expression);
        expect(expressions).toEqual(
          expect.arrayContaining([
            'variables.isListed',
            "request.operation != 'UPDATE' || variables.foreign.size() == 0",
          ]),
        );
        for (const { operations, changes = [] } of policy.writes.values()) {
          expect(changes.length > 0).toBe(operations.includes('UPDATE'));
        }
      }
      // The two accounts that the policy names are all that the manifests have.
      for (const objects of RENDERS) {
        const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata);
        expect(accounts.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
          `${SYSTEM}/headroom-worker`,
          `${SYSTEM}/headroom-starter`,
        ]);
      }
    },
  ],
  [
    'The pods run as a user without privileges and without capabilities, on a read-only file system, in a namespace that enforces the `restricted` standard. NetworkPolicies admit connections to metrics, webhooks and an opened overview only, and let the pods connect to the API server, Temporal, GitHub, VPSie and DNS only.',
    () => {
      const pods = RENDERS.flat()
        .filter(({ kind }) => kind === 'Deployment')
        .map((object) => deployment.parse(object));
      expect(new Set(pods.map(({ metadata }) => metadata.name))).toEqual(
        new Set(['headroom-worker', 'headroom-starter']),
      );
      for (const { spec } of pods) {
        expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
        const { containers, initContainers } = spec.template.spec;
        expect([containers, initContainers].map(({ length }) => length)).toEqual([1, 1]);
        for (const { securityContext } of [...containers, ...initContainers]) {
          expect(securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        }
      }
      const namespace = DEFAULT.find(({ kind }) => kind === 'Namespace')?.metadata;
      expect(namespace).toMatchObject({ name: SYSTEM, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
      const network = RENDERS.flat()
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map((object) => networkPolicy.parse(object));
      expect(network.find(({ metadata }) => metadata.name === 'headroom-default-deny')?.spec).toEqual({
        podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'headroom' } },
        policyTypes: ['Ingress', 'Egress'],
      });
      const outward = network.flatMap(({ spec }) => spec.egress ?? []).flatMap(({ ports: to }) => to);
      expect(new Set(outward.map(({ port }) => port))).toEqual(new Set([53, 443, 6443, 7233]));
      const ports = network.flatMap(({ spec }) => spec.ingress ?? []).map((rule) => rule.ports.map(({ port }) => port));
      expect([...new Set(ports.flat())].toSorted()).toEqual([
        'lights-out',
        'memcached',
        'metrics',
        'node-group',
        'overview',
      ]);
    },
  ],
];

const deployment = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        securityContext: z.unknown(),
        containers: z.array(z.looseObject({ securityContext: z.unknown() })),
        initContainers: z.array(z.looseObject({ securityContext: z.unknown() })),
        hostNetwork: z.never().optional(),
        hostPID: z.never().optional(),
        hostIPC: z.never().optional(),
      }),
    }),
  }),
});
const networkPolicy = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    ingress: z.array(z.looseObject({ ports: z.array(z.looseObject({ port: z.string() })).min(1) })).optional(),
    egress: z.array(z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })).min(1) })).optional(),
  }),
});

describe('the security of the README', () => {
  it.each(claims.map(([line, holds], index) => ({ number: index + 1, line, holds })))(
    'line $number: $line',
    ({ holds }) => holds(),
  );

  it('has these lines and no other', () => {
    const text = sectionOf(read('README.md'), '## Security');
    const lines = text
      .split(/^\d+\. /m)
      .slice(1)
      .map((line) => (line.split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' ').trim());
    expect(lines).toEqual(claims.map(([line]) => line));
  });

  it('is about every switch that there is', () => {
    const { properties } = JSON.parse(read('deploy/chart/values.schema.json')) as {
      readonly properties: Readonly<Record<string, Schema>>;
    };
    const groups = Object.entries(properties['config']?.properties ?? {});
    const enabled = groups.filter(([, { properties: of = {} }]) => 'enabled' in of).map(([group]) => group);
    // GitHub's webhooks need no right.
    expect(enabled.filter((group) => group !== 'webhooks').toSorted()).toEqual(
      names.filter((name) => /^\w+$/.test(name)).toSorted(),
    );
    expect(Object.keys(properties['rights']?.properties ?? {}).toSorted()).toEqual(
      names.flatMap((name) => /^rights\.(\w+)$/.exec(name)?.[1] ?? []).toSorted(),
    );
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
