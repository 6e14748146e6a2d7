import {
  CoreV1Api,
  type CoreV1Event,
  type KubeConfig,
  type V1Namespace,
  type V1ResourceQuota,
} from '@kubernetes/client-node';
import { equalLists, type ResourceList } from '../../domain/kernel/resource-list.ts';
import { parseAdmissionMessage, refusalReasons } from '../../domain/quota-resize/demand/event-message.ts';
import type { PolicyDefaults } from '../../domain/quota-resize/policy/policy.ts';
import { isUnderPressure } from '../../domain/quota-resize/sizing/over-threshold.ts';
import { resolvePolicy } from '../../domain/quota-resize/policy/resolve.ts';
import { type Informer, startInformer } from '../kernel/informer.ts';
import type { Log } from '../../platform/log/log.ts';
import { type QuotaHint, quotaHint } from './hint.ts';

export interface QuotaWatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  readonly policyDefaults: PolicyDefaults;
  /** Every quota under pressure is hinted again after this long, in milliseconds, in case a hint was lost. */
  readonly resyncMs: number;
  readonly hint: (hint: QuotaHint) => void;
  /**
   * What was counted for a quota last, in place of its status, resource by resource; null where nothing was. Absent: the
   * status alone counts.
   */
  readonly countedUsed?: (namespace: string, quota: string) => ResourceList | null;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface QuotaWatch {
  readonly informers: Readonly<Record<string, Informer<object & { metadata?: object }>>>;
  /** The quota was counted anew: it is hinted if that puts it under pressure, or takes it out. One that is not known is left. */
  usageCounted(namespace: string, quota: string): void;
  stop(): Promise<void>;
}

interface Numbers {
  readonly hard: ResourceList;
  readonly used: ResourceList;
}

interface Standing {
  readonly isPressed: boolean;
  readonly used: ResourceList;
}

/**
 * Watches quotas, namespaces and refusals of a cluster, and hints at the quotas that may need an episode. It filters with
 * the domain's own rule and never decides: an episode looks at everything afresh.
 */
export async function watchQuotas(options: QuotaWatchOptions): Promise<QuotaWatch> {
  const { kubeConfig, cluster, log, signal } = options;
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const say = { log, signal };

  const hintQuota = (quota: V1ResourceQuota, starts: boolean, cause: string): void => {
    const { namespace, name, resourceVersion } = quota.metadata ?? {};
    if (namespace === undefined || name === undefined) return;
    options.hint(quotaHint({ cluster, namespace, quota: name }, starts, cause, resourceVersion ?? ''));
  };
  const policyOf = (quota: V1ResourceQuota) =>
    resolvePolicy({
      defaults: options.policyDefaults,
      namespaceAnnotations: namespaces.get(quota.metadata?.namespace ?? '')?.metadata?.annotations ?? {},
      quotaAnnotations: quota.metadata?.annotations ?? {},
    }).policy;
  const numbersOf = ({ metadata, spec, status }: V1ResourceQuota): Numbers => {
    const counted = options.countedUsed?.(metadata?.namespace ?? '', metadata?.name ?? '') ?? {};
    return { hard: spec?.hard ?? {}, used: { ...status?.used, ...counted } };
  };
  const isPressed = (quota: V1ResourceQuota): boolean => isUnderPressure(numbersOf(quota), policyOf(quota));
  /** Where each quota stood when it was looked at last, by UID: a count changes that without the quota changing. */
  const standings = new Map<string, Standing>();
  const standAnew = (quota: V1ResourceQuota): { readonly before: Standing | undefined; readonly now: Standing } => {
    const uid = quota.metadata?.uid ?? '';
    const before = standings.get(uid);
    const numbers = numbersOf(quota);
    const now = { isPressed: isUnderPressure(numbers, policyOf(quota)), used: numbers.used };
    standings.set(uid, now);
    return { before, now };
  };
  // Namespaces are watched first, and one may change while the quotas are still being listed.
  let quotas: Informer<V1ResourceQuota> | undefined;
  const quotasOf = (namespace?: string): readonly V1ResourceQuota[] => quotas?.list(namespace) ?? [];

  const refusals: Informer<CoreV1Event>[] = [];
  const isRefusal = (event: CoreV1Event): boolean =>
    event.type === 'Warning' && parseAdmissionMessage(event.message ?? '').class === 'exceededQuota';
  const hintNamespace = (namespace: string, cause: string): void => {
    // Admission names the first exceeded quota only; the others of the namespace may be as tight.
    for (const quota of quotasOf(namespace)) {
      if (policyOf(quota).enabled) hintQuota(quota, true, cause);
    }
  };
  const hasRefusal = (namespace: string): boolean =>
    refusals.some((informer) => informer.list(namespace).some(isRefusal));

  // Namespaces first: the policy of the first quotas must not miss an opt-out.
  const namespaces: Informer<V1Namespace> = await startInformer<V1Namespace>(
    kubeConfig,
    {
      name: 'namespaces',
      path: '/api/v1/namespaces',
      listPage: async (page) => await core.listNamespace(page),
      onChange: (namespace, previous) => {
        const sameLife = namespace.metadata?.deletionTimestamp === previous?.metadata?.deletionTimestamp;
        // One that is new here may still have quotas that are known: they were judged without its annotations.
        if (previous !== undefined && sameLife && sameResizerAnnotations(namespace, previous)) return;
        for (const quota of quotasOf(namespace.metadata?.name ?? '')) {
          hintQuota(quota, false, 'the namespace changed');
          if (standAnew(quota).now.isPressed) hintQuota(quota, true, 'the namespace changed');
        }
        if (hasRefusal(namespace.metadata?.name ?? '')) {
          hintNamespace(namespace.metadata?.name ?? '', 'something was refused');
        }
      },
      onDelete: () => {},
    },
    say,
  );
  quotas = await startInformer<V1ResourceQuota>(
    kubeConfig,
    {
      name: 'resourcequotas',
      path: '/api/v1/resourcequotas',
      listPage: async (page) => await core.listResourceQuotaForAllNamespaces(page),
      onChange: (quota, previous) => {
        const changed =
          previous !== undefined && (!sameSpec(quota, previous) || !sameResizerAnnotations(quota, previous));
        // An episode at rest is woken by a change, and not by the pressure that it rests under.
        if (changed) hintQuota(quota, false, 'the quota changed');
        const { before, now } = standAnew(quota);
        // A status that follows the count says nothing new.
        const isOld = previous !== undefined && !changed && before !== undefined && equalLists(before.used, now.used);
        if (options.countedUsed !== undefined && now.isPressed && isOld) return;
        if (now.isPressed) return hintQuota(quota, true, 'a threshold is reached');
        if ((previous === undefined || changed) && policyOf(quota).enabled) {
          if (hasRefusal(quota.metadata?.namespace ?? '')) return hintQuota(quota, true, 'something was refused');
        }
        if (previous === undefined) return;
        if (!changed && before?.isPressed === true) hintQuota(quota, false, 'the pressure is gone');
      },
      onDelete: (quota) => {
        standings.delete(quota.metadata?.uid ?? '');
        hintQuota(quota, false, 'the quota is deleted');
      },
    },
    say,
  );
  for (const reason of refusalReasons) {
    refusals.push(
      await startInformer<CoreV1Event>(
        kubeConfig,
        {
          name: `events/${reason}`,
          path: '/api/v1/events',
          fieldSelector: `reason=${reason}`,
          listPage: async (page) =>
            await core.listEventForAllNamespaces({ ...page, fieldSelector: `reason=${reason}` }),
          onChange: (event) => {
            if (isRefusal(event)) hintNamespace(event.metadata.namespace ?? '', 'something was refused');
          },
          onDelete: () => {},
        },
        say,
      ),
    );
  }
  const resync = setInterval(() => {
    for (const quota of quotasOf()) if (isPressed(quota)) hintQuota(quota, true, 'resync');
    for (const event of refusals.flatMap((informer) => informer.list())) {
      if (isRefusal(event)) hintNamespace(event.metadata.namespace ?? '', 'resync');
    }
  }, options.resyncMs);

  const informers = {
    namespaces,
    resourcequotas: quotas,
    ...Object.fromEntries(refusalReasons.map((reason, index) => [`events/${reason}`, refusals[index]])),
  } as QuotaWatch['informers'];
  return {
    informers,
    usageCounted: (namespace, name) => {
      const quota = quotasOf(namespace).find(({ metadata }) => metadata?.name === name);
      if (quota === undefined) return;
      const { before, now } = standAnew(quota);
      if (before !== undefined && before.isPressed === now.isPressed && equalLists(before.used, now.used)) return;
      if (now.isPressed) return hintQuota(quota, true, 'a threshold is reached by what was counted');
      if (before?.isPressed === true) hintQuota(quota, false, 'the pressure is gone by what was counted');
    },
    stop: async () => {
      clearInterval(resync);
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

function sameSpec(a: V1ResourceQuota, b: V1ResourceQuota): boolean {
  return equalLists(a.spec?.hard ?? {}, b.spec?.hard ?? {});
}

function resizerAnnotations(object: V1Namespace | V1ResourceQuota): string {
  const annotations = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) =>
    key.startsWith('resizer.io/'),
  );
  return JSON.stringify(annotations.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function sameResizerAnnotations(a: V1Namespace | V1ResourceQuota, b: V1Namespace | V1ResourceQuota): boolean {
  return resizerAnnotations(a) === resizerAnnotations(b);
}
