/** What a pod must specify before a quota admits it. */
import { isPodLevelResource } from '../kernel/stored-pod.ts';
import type { Pod, ResourceRequirements } from './pod.ts';

/** Resources that every container must specify when a quota limits them; the list is Kubernetes' own. */
const STATED = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory'] as const;

function states({ requests, limits }: ResourceRequirements, name: (typeof STATED)[number]): boolean {
  return name.startsWith('limits.')
    ? Object.hasOwn(limits ?? {}, name.slice('limits.'.length))
    : Object.hasOwn(requests ?? {}, name.replace('requests.', ''));
}

/** Whether the pod states resources as a whole; then its containers need not. */
function statesPodLevel(resources: ResourceRequirements | undefined): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).some(isPodLevelResource);
}

/**
 * What the pod does not specify although one of these names of a quota's `hard` requires it, in admission's words:
 * `must specify cpu for: app; limits.memory for: app,init`. Null when nothing is missing.
 */
export function podConstraints(required: readonly string[], pod: Pod): string | null {
  if (statesPodLevel(pod.spec?.resources)) {
    return null;
  }
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const open = STATED.filter((name) => required.includes(name)).flatMap((name) => {
    const silent = containers.filter((container) => !states(container.resources ?? {}, name));
    const theirNames = [...new Set(silent.map((container) => container.name ?? ''))].toSorted();
    return silent.length === 0 ? [] : [`${name} for: ${theirNames.join(',')}`];
  });
  return open.length === 0 ? null : `must specify ${open.join('; ')}`;
}
