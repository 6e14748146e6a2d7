/** What a plan is made of, as the API server has it: one watch for each resource, reduced to the model. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { listAll } from '../../activities/kubernetes/list.ts';
import { isRecord } from '../../domain/kernel/record.ts';
import { GROUP, MACHINE_PLURAL, PLURAL, VERSION } from '../../domain/node-group/api/names.ts';
import { readMachine } from '../../domain/node-group/api/machine.ts';
import { labelsOf } from '../../domain/node-group/scheduling/read-pod.ts';
import { readPod } from '../../domain/node-group/scheduling/read-pod.ts';
import {
  readAttachLimits,
  readBudget,
  readClaim,
  readDaemonSet,
  readLimitRange,
  readNode,
  readRuntimeClass,
  readStorageClass,
  readVolume,
} from '../../domain/node-group/scheduling/read-objects.ts';
import type { Machine } from '../../domain/node-group/model/node-group.ts';
import type { Node } from '../../domain/node-group/model/node.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, listPath, listPlainPages } from '../../activities/kubernetes/api-get.ts';
import { type Informer, openInformer } from '../../activities/kubernetes/informer.ts';
import { openWhereServed } from '../kernel/where-served.ts';
import type { ApiPart, PlanPart, PlanParts } from './plan-messages.ts';

/** A cached object: its identity for the cache, and what a plan needs of it. */
interface Shaped extends KubernetesObject {
  readonly read: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

interface Source {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly fieldSelector?: string;
  readonly read: (object: Fields) => unknown;
}

/** Pods that have ended need no node. */
const LIVING = 'status.phase!=Succeeded,status.phase!=Failed';

const SOURCES: Readonly<Record<ApiPart, Source>> = {
  pods: { group: '', version: 'v1', resource: 'pods', fieldSelector: LIVING, read: readPod },
  nodes: { group: '', version: 'v1', resource: 'nodes', read: readNode },
  namespaces: {
    group: '',
    version: 'v1',
    resource: 'namespaces',
    read: ({ metadata }) => labelsOf(isRecord(metadata) ? metadata['labels'] : undefined),
  },
  claims: { group: '', version: 'v1', resource: 'persistentvolumeclaims', read: readClaim },
  volumes: { group: '', version: 'v1', resource: 'persistentvolumes', read: readVolume },
  daemonSets: { group: 'apps', version: 'v1', resource: 'daemonsets', read: readDaemonSet },
  limitRanges: { group: '', version: 'v1', resource: 'limitranges', read: readLimitRange },
  runtimeClasses: { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses', read: readRuntimeClass },
  budgets: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets', read: readBudget },
  storageClasses: { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses', read: readStorageClass },
  attachLimits: { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes', read: readAttachLimits },
  machines: { group: GROUP, version: VERSION, resource: MACHINE_PLURAL, read: readMachine },
};

/** The definitions are ours, so they are only away, or about to come. */
const DEFINED_MS = 5_000;

export interface NodeGroupCaches {
  /** By a name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  /** NodeGroups as they are: there are few, and their status is compared with what it should say. */
  readonly groups: Informer<KubernetesObject>;
  node(name: string): Node | null;
  machines(): readonly Machine[];
  /** Everything that there is now, as it is sent to a planner that knows nothing yet. */
  all(): PlanParts;
  /** What is not known now; null where everything is. */
  trouble(): string | null;
  stop(): Promise<void>;
}

export interface CachesOptions {
  readonly kubeConfig: KubeConfig;
  readonly onChange: (part: PlanPart, key: string, read: unknown) => void;
  readonly onGroup: () => void;
  readonly onGroupGone: (name: string) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function openCaches({
  kubeConfig,
  onChange,
  onGroup,
  onGroupGone,
  log,
  signal,
}: CachesOptions): NodeGroupCaches {
  const parts = Object.keys(SOURCES) as readonly ApiPart[];
  const open = (part: ApiPart): Informer<Shaped> => {
    const { read, ...source } = SOURCES[part];
    const options = {
      ...source,
      shape: (object: Shaped) => shaped(object, read),
      // Most writes of a status change nothing that a plan depends on.
      onChange: (object: Shaped, last: Shaped | undefined) => {
        if (!isDeepStrictEqual(last?.read, object.read)) onChange(part, keyOf(object), object.read);
      },
      onDelete: (object: Shaped) => onChange(part, keyOf(object), null),
    };
    return part === 'machines'
      ? openWhereServed<Shaped>(kubeConfig, options, { everyMs: DEFINED_MS, log, signal })
      : openInformer<Shaped>(
          kubeConfig,
          { ...options, name: `${source.resource} (node-group)`, path: listPath(source) },
          { log, signal },
        );
  };
  const opened = parts.map((part) => [part, open(part)] as const);
  const informerOf = (wanted: ApiPart): Informer<Shaped> => {
    const [, informer] = opened.find(([part]) => part === wanted) ?? [];
    if (informer === undefined) throw new Error(`nothing watches ${wanted}`);
    return informer;
  };
  const groups = openWhereServed<KubernetesObject>(
    kubeConfig,
    {
      group: GROUP,
      version: VERSION,
      resource: PLURAL,
      onChange: onGroup,
      onDelete: ({ metadata }) => onGroupGone(metadata?.name ?? ''),
    },
    { everyMs: DEFINED_MS, log, signal },
  );
  const informers = {
    [PLURAL]: groups,
    ...Object.fromEntries(opened.map(([part, informer]) => [`${SOURCES[part].resource} (node-group)`, informer])),
  };
  return {
    informers,
    groups,
    node: (name) => (informerOf('nodes').get(name)?.read as Node | undefined) ?? null,
    machines: () =>
      informerOf('machines')
        .list()
        .map(({ read }) => read as Machine),
    all: () =>
      Object.fromEntries(
        opened.map(([part, informer]) => [
          part,
          informer.list().map((object) => [keyOf(object), object.read] as const),
        ]),
      ),
    trouble: () => {
      const away = Object.entries(informers).find(([, each]) => !each.isSynced() || each.trouble() !== null);
      return away === undefined
        ? null
        : `the cache of ${away[0]} is not complete: ${away[1].trouble() ?? 'it is being listed'}`;
    },
    stop: async () => {
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

/**
 * All that a plan is made of, listed once with the rights of `get`.
 *
 * @throws {ApiException} where a list is refused, with 404 where VPSieNodes are not defined.
 */
export async function listParts(get: ApiGet): Promise<PlanParts> {
  const lists = (Object.keys(SOURCES) as readonly ApiPart[]).map(async (part) => {
    const { read, fieldSelector, ...source } = SOURCES[part];
    const pages = listPlainPages<KubernetesObject>(get, { path: listPath(source), metadataOnly: false, fieldSelector });
    // Reduced page by page, so that not even a list as a whole is ever held in full.
    const all = await listAll<Shaped>(async (range) => {
      const page = await pages(range);
      return { ...page, items: page.items.map((object) => shaped(object, read)) };
    });
    return [part, all.map((object) => [keyOf(object), object.read] as const)] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
}

function shaped(object: KubernetesObject, read: Source['read']): Shaped {
  const { name = '', namespace, resourceVersion = '' } = object.metadata ?? {};
  const metadata = namespace === undefined ? { name, resourceVersion } : { name, namespace, resourceVersion };
  return { metadata, read: read({ ...object }) };
}

function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
