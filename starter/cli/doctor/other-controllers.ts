/** Who else acts on what Headroom acts on. */
import {
  AppsV1Api,
  AutoscalingV2Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type V1Deployment,
  type V1Lease,
  type V1ManagedFieldsEntry,
  type V1ResourceQuota,
  type V1StatefulSet,
  type V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { holderOf, lastWritten } from '../../../activities/kubernetes/lease-object.ts';
import { customPage } from '../../../activities/kubernetes/custom-page.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { otherController } from '../../../activities/node-group/group/other-controller.ts';
import { otherOperator } from '../../../activities/memcached/other-operator.ts';
import { MANAGED_BY, ORIGINAL_BOUNDS } from '../../../domain/lights-out/schedule/names.ts';
import type { Config } from '../../config.ts';
import type { DoctorContext } from './context.ts';
import type { Findings } from './finding.ts';

/** A leader renews its Lease every few seconds; one that has not for so long, in milliseconds, is gone. */
const ALIVE_MS = 5 * 60_000;
/** Milliseconds: what wrote a status so lately goes on to. Whoever has just switched it off asks again later. */
const COUNTED_MS = 5 * 60_000;
/** Objects that are named. */
const NAMED = 5;

interface Other {
  readonly name: string;
  /** By an image of a Deployment with a replica, without registry and tag. */
  readonly image: RegExp;
  /** By a Lease that somebody renews. */
  readonly lease?: RegExp;
  readonly isInTheWay: (config: Config) => boolean;
  readonly what: string;
  readonly mend: string;
}

const others: readonly Other[] = [
  {
    name: 'cluster-autoscaler',
    image: /(?:^|\/)cluster-autoscaler(?:-\w+)?$/,
    lease: /^cluster-autoscaler$/,
    isInTheWay: ({ nodeGroups }) => nodeGroups.enabled,
    what: 'makes and deletes nodes for the same pods',
    mend: 'Stop it before NodeGroups act (docs/node-groups.md), or leave HEADROOM_NODE_GROUPS_MODE at observe.',
  },
  {
    name: 'Karpenter',
    image: /(?:^|\/)karpenter(?:\/controller)?$/,
    lease: /^karpenter-leader-election$/,
    isInTheWay: ({ nodeGroups }) => nodeGroups.enabled,
    what: 'makes and consolidates nodes for the same pods',
    mend: 'Let each have nodes and pods of its own, or stop one of them (docs/node-groups.md).',
  },
  {
    name: 'kube-downscaler',
    image: /(?:^|\/)(?:py-)?kube-downscaler$/,
    isInTheWay: ({ lightsOut }) => lightsOut.enabled,
    what: 'scales workloads down and up by its own times',
    mend: 'Move its annotations to LightsOutSchedules and stop it (docs/lights-out.md).',
  },
  {
    name: 'kube-green',
    image: /(?:^|\/)kube-green$/,
    lease: /kube-green/,
    isInTheWay: ({ lightsOut }) => lightsOut.enabled,
    what: 'puts workloads to sleep by its own SleepInfos',
    mend: 'Move its SleepInfos to LightsOutSchedules and stop it (docs/lights-out.md).',
  },
  {
    name: 'the former namespace-resizer',
    image: /(?:^|\/)(?:k8s-)?namespace-resizer$/,
    lease: /^namespace-resizer(?:-leader)?$/,
    isInTheWay: () => true,
    what: 'opens pull requests for the same quotas',
    mend: 'Scale it to 0; its Leases are taken over.',
  },
];

export async function lookAtOthers(context: DoctorContext, findings: Findings): Promise<void> {
  const { config, kubeConfig, kubernetes } = context;
  const deployments = await listAll<V1Deployment>((range) =>
    kubeConfig.makeApiClient(AppsV1Api).listDeploymentForAllNamespaces(range),
  );
  const leases = await listAll<V1Lease>((range) =>
    kubeConfig.makeApiClient(CoordinationV1Api).listLeaseForAllNamespaces(range),
  );
  const before = findings.all.length;
  for (const other of others.filter(({ isInTheWay }) => isInTheWay(config))) {
    const runs = whereIt(other, deployments, leases);
    if (runs !== null) findings.wrong(`${other.name} runs (${runs}), and ${other.what}.`, other.mend);
  }
  if (config.nodeGroups.enabled) {
    const by = await otherController(kubernetes, new ServerClock());
    if (by !== null) findings.wrong(`Nothing is written for NodeGroups: ${by}.`, 'Stop it.');
  }
  if (config.memcached.enabled) {
    const by = await otherOperator(kubernetes, config.memcached.formerNamespace, Date.now());
    if (by !== null) findings.wrong(`The earlier memcached operator runs: it renews the Lease ${by}.`, 'Stop it.');
  }
  if (config.quotaUsage.mode === 'own') await lookAtCounters(context, findings);
  if (config.lightsOut.enabled) await lookAtAutoscalers(context, deployments, findings);
  if (findings.all.length === before) findings.ok('No other controller was found that acts on the same objects.');
}

/** Where it was seen to run; null: nowhere. */
function whereIt(other: Other, deployments: readonly V1Deployment[], leases: readonly V1Lease[]): string | null {
  const deployment = deployments.find(
    ({ spec }) =>
      spec?.replicas !== 0 &&
      spec?.template.spec?.containers.some(({ image = '' }) => other.image.test(withoutTag(image))) === true,
  );
  if (deployment !== undefined) return `Deployment ${nameOf(deployment)}`;
  const lease = leases.find(
    (found) =>
      other.lease?.test(found.metadata?.name ?? '') === true &&
      holderOf(found) !== null &&
      found.spec?.renewTime !== undefined &&
      Date.now() - lastWritten(found) < ALIVE_MS,
  );
  return lease === undefined ? null : `it renews the Lease ${nameOf(lease)}`;
}

function withoutTag(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}

function nameOf({ metadata }: Pick<V1Deployment | V1Lease | V1ResourceQuota, 'metadata'>): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/**
 * kube-controller-manager counts quotas beside Headroom where its write of a status is the newer one, or is of the last minutes:
 * what it changes is not Headroom's any more, and with the last of it goes the moment of Headroom's write.
 */
async function lookAtCounters({ kubeConfig }: DoctorContext, findings: Findings): Promise<void> {
  const quotas = await listAll<V1ResourceQuota>((range) =>
    kubeConfig.makeApiClient(CoreV1Api).listResourceQuotaForAllNamespaces(range),
  );
  const contested = quotas.filter(({ metadata }) => {
    const theirs = statusWrites(metadata?.managedFields, 'kube-controller-manager');
    const own = statusWrites(metadata?.managedFields, 'headroom');
    return theirs !== null && ((own !== null && theirs > own) || Date.now() - theirs < COUNTED_MS);
  });
  if (contested.length === 0) return;
  const names = contested.slice(0, NAMED).map(nameOf).join(', ');
  findings.wrong(
    `kube-controller-manager has counted ${contested.length} of ${quotas.length} quotas just now, or after Headroom: ${names}.`,
    'Start it with --controllers=*,-resourcequota-controller, or set HEADROOM_USAGE_MODE=audit (docs/quota-usage.md).',
  );
}

function statusWrites(fields: readonly V1ManagedFieldsEntry[] | undefined, by: string): number | null {
  const times = (fields ?? []).flatMap(({ manager, subresource, time }) =>
    manager === by && subresource === 'status' && time !== undefined ? [new Date(time).getTime()] : [],
  );
  return times.length === 0 ? null : Math.max(...times);
}

/** What an autoscaler may scale and a schedule may put to sleep. */
type Scalable = Pick<V1Deployment, 'metadata'> & { readonly spec?: { readonly replicas?: number } };

/** An autoscaler whose bounds are not narrowed wakes what sleeps, as soon as it has a replica. */
async function lookAtAutoscalers(
  { kubeConfig }: DoctorContext,
  deployments: readonly V1Deployment[],
  findings: Findings,
): Promise<void> {
  const autoscalers = await listAll<V2HorizontalPodAutoscaler>((range) =>
    kubeConfig.makeApiClient(AutoscalingV2Api).listHorizontalPodAutoscalerForAllNamespaces(range),
  );
  const apps = kubeConfig.makeApiClient(AppsV1Api);
  const [statefulSets, rollouts] = await Promise.all([
    listAll<V1StatefulSet>((range) => apps.listStatefulSetForAllNamespaces(range)),
    listAll<Scalable>(async (range) => {
      const kind = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts' };
      const request = kubeConfig.makeApiClient(CustomObjectsApi).listClusterCustomObject({ ...kind, ...range });
      const { metadata = {}, items } = await customPage(request, (object) => object as Scalable);
      return { metadata, items };
    }),
  ]);
  const byKind = { Deployment: deployments, StatefulSet: statefulSets, Rollout: rollouts } as const;
  const asleep = new Map(
    Object.entries(byKind).flatMap(([kind, workloads]) =>
      workloads.flatMap((workload: Scalable): [string, Scalable][] =>
        workload.metadata?.annotations?.[MANAGED_BY] === undefined ? [] : [[`${kind} ${nameOf(workload)}`, workload]],
      ),
    ),
  );
  for (const { metadata, spec } of autoscalers) {
    const target = spec?.scaleTargetRef;
    if (target === undefined || metadata?.annotations?.[ORIGINAL_BOUNDS] !== undefined) continue;
    const workload = asleep.get(`${target.kind} ${metadata?.namespace}/${target.name}`);
    const replicas = workload?.spec?.replicas ?? 0;
    if (workload === undefined || replicas === 0) continue;
    findings.wrong(
      `The autoscaler ${metadata?.namespace}/${metadata?.name} scales the ${target.kind} ${target.name}, which is to sleep and has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}.`,
      `See what headroom explain lights-out says of its schedule ${workload.metadata?.annotations?.[MANAGED_BY]}.`,
    );
  }
}
