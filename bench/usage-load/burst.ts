import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import type { NamespaceModel } from './namespace-model.ts';
import { usedOf } from './namespace-model.ts';
import { ROOT_CERTIFICATE } from './plan.ts';
import { hardOf, somePod } from './shapes.ts';
import { seededRandom } from '../../test/chaos/random.ts';
import { AT_ONCE, quotaIn, type Side } from './side.ts';
import { usedKey } from './used-key.ts';

/** What the deletion of all pods of one namespace, one by one and as fast as the API server takes it, led to. */
export interface BurstResult {
  readonly pods: number;
  /** How long the deletions took, in milliseconds. */
  readonly deletedInMs: number;
  /** From the last answer to the true status, in milliseconds; 0 where it was true before. */
  readonly trueAfterMs: number;
  /** Status writes of the quota from the first deletion to the true status, by field manager. */
  readonly writes: Readonly<Record<string, number>>;
}

/** How long the status may take to become true after a burst, in milliseconds. */
const WITHIN_MS = 120_000;

const NAMESPACE = 'burst';

/** A namespace with that many pods and nothing else. */
export function burstNamespace(pods: number, seed: number): ReadonlyMap<string, NamespaceModel> {
  const random = seededRandom(seed);
  const names = Array.from({ length: pods }, (_, index) => `burst-${index}`);
  const model: NamespaceModel = {
    hard: hardOf(0),
    pods: new Map(names.map((name) => [name, somePod(random, name)])),
    configMaps: new Set([ROOT_CERTIFICATE]),
    serviceType: 'ClusterIP',
  };
  return new Map([[NAMESPACE, model]]);
}

/** Deletes all pods of the filled namespace and waits until its quota shows that none is left. */
export async function deleteAtOnce(
  { hand, watch }: Side,
  namespaces: ReadonlyMap<string, NamespaceModel>,
): Promise<BurstResult> {
  const model = namespaces.get(NAMESPACE);
  if (model === undefined) throw new Error(`there is no namespace ${NAMESPACE}`);
  const quota = quotaIn(NAMESPACE);
  const started = performance.now();
  await inParallel(AT_ONCE, [...model.pods.keys()], async (name) => await hand.deletePod(NAMESPACE, name));
  const ended = performance.now();
  const expected = usedKey(usedOf({ ...model, pods: new Map() }));
  await eventually(`${quota} shows that no pod is left`, () => watch.shows(quota) === expected, WITHIN_MS);
  const written = watch.writes.filter((write) => write.quota === quota && write.at >= started);
  return {
    pods: model.pods.size,
    deletedInMs: ended - started,
    trueAfterMs: Math.max(0, (written.at(-1)?.at ?? ended) - ended),
    writes: countedBy(written.map(({ manager }) => manager)),
  };
}

/** How often each text comes. */
export function countedBy(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
