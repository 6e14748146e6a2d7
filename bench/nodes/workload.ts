/** The pods that both sides get, the same for the same seed. */
import type { V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { type Random, seededRandom } from '../../test/chaos/random.ts';
import { ARCHITECTURES, ZONES } from './instance-types.ts';

export const SHAPES = ['uniform', 'mixed'] as const;
export type Shape = (typeof SHAPES)[number];

export interface BenchPod {
  readonly body: V1Pod;
  /** Millicores and bytes. */
  readonly requests: { readonly cpu: number; readonly memory: number };
  /** The labels that its node must have. */
  readonly selector: Readonly<Record<string, string>>;
}

const ZONE = 'topology.kubernetes.io/zone';
const ARCH = 'kubernetes.io/arch';
const HOSTNAME = 'kubernetes.io/hostname';
const GIBIBYTE = 1024 ** 3;
/** Pods of an application, which are of one size and have the same rules. */
const REPLICAS = 10;
const MILLICORES = [250, 500, 1000, 2000, 4000] as const;
const GIBIBYTES_PER_CORE = [1, 2, 4, 8] as const;

/** Uniform: 1 core and 2 GiB each. Mixed: applications of ten, by kind in turn: plain, of a zone, of an architecture, spread, apart. */
export function workload(shape: Shape, count: number, seed: number): readonly BenchPod[] {
  const random = seededRandom(seed);
  const pods: BenchPod[] = [];
  for (let app = 0; pods.length < count; app += 1) {
    const rules = shape === 'uniform' ? UNIFORM : mixedRules(`app-${app}`, app, random);
    for (let replica = 0; replica < REPLICAS && pods.length < count; replica += 1) {
      pods.push(benchPod(`app-${app}-${replica}`, `app-${app}`, rules));
    }
  }
  return pods;
}

interface Rules {
  readonly requests: BenchPod['requests'];
  readonly selector: BenchPod['selector'];
  readonly spec: Partial<V1PodSpec>;
}

const UNIFORM: Rules = { requests: { cpu: 1000, memory: 2 * GIBIBYTE }, selector: {}, spec: {} };

function mixedRules(app: string, index: number, random: Random): Rules {
  const cpu = random.pick(MILLICORES);
  const requests = { cpu, memory: (cpu / 1000) * random.pick(GIBIBYTES_PER_CORE) * GIBIBYTE };
  const own = { labelSelector: { matchLabels: { app } }, topologyKey: HOSTNAME };
  const kinds: readonly Omit<Rules, 'requests'>[] = [
    { selector: {}, spec: {} },
    { selector: { [ZONE]: random.pick(ZONES) }, spec: {} },
    { selector: { [ARCH]: random.pick(ARCHITECTURES) }, spec: {} },
    {
      selector: {},
      spec: { topologySpreadConstraints: [{ ...own, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    },
    {
      selector: {},
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [own] } } },
    },
  ];
  return { requests, ...(kinds[index % kinds.length] ?? UNIFORM) };
}

function benchPod(name: string, app: string, { requests, selector, spec }: Rules): BenchPod {
  const resources = { requests: { cpu: `${requests.cpu}m`, memory: String(requests.memory) } };
  const containers = [{ name: 'main', image: 'test/none:1', resources }];
  return {
    body: {
      metadata: { name, labels: { app } },
      spec: { containers, nodeSelector: { ...selector }, terminationGracePeriodSeconds: 1, ...spec },
    },
    requests,
    selector,
  };
}
