/** The pods of workloads: controllers make them, kubelets run and end them. */
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { podFor, resized, type Workload } from './workloads.ts';

export class PodLife {
  readonly workloads = new Map<string, Workload>();
  readonly #workloadOf = new Map<string, Workload>();
  #count = 0;

  workloadOf({ uid }: Pick<Pod, 'uid'>): Workload | undefined {
    return this.#workloadOf.get(uid);
  }

  /** Pods become ready and end, but on nodes of which the kubelet is silent. */
  run(pods: readonly Pod[], nodes: readonly Node[], at: number): Pod[] {
    const isReady = new Map(nodes.map(({ name, ready }) => [name, ready.status === 'True']));
    return pods.flatMap((pod) => {
      if (pod.node === null) return pod.deletesAt === null ? [pod] : [];
      if (isReady.get(pod.node) !== true) return [{ ...pod, isReady: false }];
      if (pod.deletesAt !== null) return [];
      const workload = this.#workloadOf.get(pod.uid);
      const isOver = workload?.endsAfterMs !== undefined && at - pod.createdAt > workload.endsAfterMs;
      return isOver ? [] : [{ ...(workload?.resizes === true ? resized(pod) : pod), isReady: true }];
    });
  }

  /** Each workload has as many pods as it should, and none is left of those that ended. */
  control(pods: readonly Pod[], at: number): Pod[] {
    const gone = new Set<string>();
    const made: Pod[] = [];
    const own = Map.groupBy(pods, ({ uid }) => this.#workloadOf.get(uid));
    for (const workload of this.workloads.values()) {
      const { remakesAfterMs } = workload;
      const there = (own.get(workload) ?? []).filter(({ deletesAt }) => deletesAt === null);
      const stays = there.filter(
        ({ node, createdAt }) => node !== null || remakesAfterMs === undefined || at - createdAt < remakesAfterMs,
      );
      for (const pod of [...there.filter((each) => !stays.includes(each)), ...stays.slice(workload.replicas)]) {
        gone.add(pod.uid);
      }
      for (let count = stays.length; count < workload.replicas; count += 1) made.push(this.#make(workload, at));
    }
    const stays = pods.filter(({ uid }) => {
      const workload = this.#workloadOf.get(uid);
      return !gone.has(uid) && (workload === undefined || this.workloads.get(workload.name) === workload);
    });
    return [...stays, ...made];
  }

  #make(workload: Workload, at: number): Pod {
    this.#count += 1;
    const pod = podFor(workload, this.#count, at);
    this.#workloadOf.set(pod.uid, workload);
    return pod;
  }
}
