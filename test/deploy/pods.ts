/** The pods of workers and starters among rendered objects, and the configuration that they would have. */
import type { V1Container, V1Deployment } from '@kubernetes/client-node';
import { loadConfig } from '../../starter/config.ts';
import type { Manifest } from './rendered.ts';

/** What Kubernetes itself sets in a pod. */
const IN_A_POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

/** `worker`, or `worker-node-group` where each controller has its own. */
type Process = string;

/** Those that there are. */
export function processesOf(objects: readonly Manifest[]): readonly Process[] {
  return objects.flatMap(({ kind, metadata }) =>
    kind === 'Deployment' ? [metadata.name.slice('headroom-'.length)] : [],
  );
}

/** @throws Error where there is none. */
export function found(kind: string, name: string, objects: readonly Manifest[]): Manifest {
  const object = objects.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (object === undefined) throw new Error(`there is no ${kind} ${name}`);
  return object;
}

export function deploymentOf(process: Process, objects: readonly Manifest[]): V1Deployment {
  return found('Deployment', `headroom-${process}`, objects) as unknown as V1Deployment;
}

export function containerOf(process: Process, objects: readonly Manifest[]): V1Container {
  const [container] = deploymentOf(process, objects).spec?.template.spec?.containers ?? [];
  if (container === undefined) throw new Error(`the Deployment of the ${process} has no container`);
  return container;
}

/** The container that has Node compile the program before it is started. */
export function compilingContainerOf(process: Process, objects: readonly Manifest[]): V1Container {
  const [container, ...others] = deploymentOf(process, objects).spec?.template.spec?.initContainers ?? [];
  if (container === undefined || others.length > 0) throw new Error(`the ${process} has to have one such container`);
  return container;
}

/** The ports by their names. */
export function portsOf(process: Process, objects: readonly Manifest[]): ReadonlyMap<string, number> {
  return new Map(
    (containerOf(process, objects).ports ?? []).map(({ name = '', containerPort }) => [name, containerPort]),
  );
}

/**
 * The configuration that the process has in its pod.
 *
 * @param secrets the files of Secrets, by their paths, as far as they are mounted in this process.
 */
export function configOf(
  process: Process,
  objects: readonly Manifest[],
  secrets: readonly (readonly [path: string, text: string])[] = [],
): ReturnType<typeof loadConfig> {
  const { args = [], env = [], volumeMounts = [] } = containerOf(process, objects);
  const { data } = found('ConfigMap', 'headroom', objects) as { readonly data?: Readonly<Record<string, string>> };
  const configured = volumeMounts.find(({ name }) => name === 'configuration')?.mountPath ?? '';
  const isMounted = (path: string): boolean => volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`));
  const files = new Map([[configured, data?.['headroom.yaml'] ?? ''], ...secrets.filter(([path]) => isMounted(path))]);
  return loadConfig({
    env: { ...IN_A_POD, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
    argv: args.slice(1),
    program: args[0] === 'worker.js' ? 'worker' : 'starter',
    readFile: (path) => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`nothing is mounted at ${path}`);
      return text;
    },
  });
}
