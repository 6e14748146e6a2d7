/** The writes of one episode to GitHub and to Kubernetes, and how the same writes of another episode are recognised. */
import { fileLeaseName } from '../../domain/quota-resize/model/lease.ts';
import type { Forge } from '../kernel/forge/forge.ts';
import type { RequestPattern } from '../kernel/forge/http/request-pattern.ts';
import type { KubernetesGate } from '../kernel/servers/kubernetes-gate.ts';
import { pathOf } from './pressed-namespaces.ts';
import { openingOf } from '../kernel/forge/opening.ts';

/** One write that took effect. */
export interface JournalledWrite {
  readonly server: 'GitHub' | 'Kubernetes';
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The name of the Lease that locks the file of a namespace's quota. */
function fileLeaseOf(namespace: string): string {
  return fileLeaseName({ repository: 'acme/gitops', path: pathOf(namespace) });
}

/** What the episodes of a namespace have written, in the order in which it took effect; refused writes are left out. */
export function writesOf(
  { forge, approvalRequirement }: { readonly forge: Forge; readonly approvalRequirement: KubernetesGate },
  namespace: string,
): readonly JournalledWrite[] {
  const toGitHub = forge.writes
    .filter(({ branch, effect }) => effect && branch?.includes(`/${namespace}/`))
    .map(({ at, method, path, requestBody }) => {
      return { server: 'GitHub', at, method, path, body: JSON.stringify(requestBody ?? '') } as const;
    });
  const toKubernetes = approvalRequirement.writes
    .filter(({ status, path, body }) => status < 300 && isAbout(namespace, `${path} ${body}`))
    .map(({ at, method, path, body }) => ({ server: 'Kubernetes', at, method, path, body }) as const);
  return [...toGitHub, ...toKubernetes].toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function isAbout(namespace: string, text: string): boolean {
  return new RegExp(`\\b${namespace}\\b`).test(text) || text.includes(fileLeaseOf(namespace));
}

/** A write without what differs from episode to episode: `GitHub PUT /repos/acme/gitops/pulls/{number}/merge`. */
export function shapeOf(write: JournalledWrite, namespace: string): string {
  const path = write.path
    .replaceAll(new RegExp(`\\b${namespace}\\b`, 'g'), '{namespace}')
    .replace(fileLeaseOf(namespace), '{file lock}')
    .replace(/(?<=\/)[0-9a-f]{8}$/, '{decision}')
    .replace(/(?<=\/)[0-9]+(?=\/|$)/, '{number}');
  const reason = /"reason":"(\w+)"/.exec(write.body)?.[1];
  return `${write.server} ${write.method} ${path}${reason === undefined ? '' : ` (${reason})`}`;
}

/**
 * Recognises the request of another namespace's episode that does what `writes[index]` did in the recorded one.
 *
 * @param writes the recorded episode of `recorded`.
 */
export function sameWriteOf(
  namespace: string,
  { writes, recorded }: { readonly writes: readonly JournalledWrite[]; readonly recorded: string },
  index: number,
): RequestPattern {
  const write = writes[index];
  if (write === undefined) throw new Error(`the recorded episode has ${writes.length} writes, not ${index + 1}`);
  const pattern = (path: string): string =>
    shapeOf({ ...write, path, body: '' }, recorded)
      .replace(/^\S+ \S+ /, '')
      .replaceAll(/[.*+?^$|()[\]\\]/g, '\\$&')
      .replaceAll('{namespace}', namespace)
      .replace('{file lock}', fileLeaseOf(namespace))
      .replace('{decision}', '[0-9a-f]{8}')
      .replace('{number}', '[0-9]+');
  const path = pattern(write.path);
  const earlier = writes
    .slice(0, index)
    .filter((before) => before.method === write.method && pattern(before.path) === path);
  return {
    method: write.method,
    path: new RegExp(`^${path}$`),
    ...(write.path === '/graphql' ? openingOf(namespace) : write.body.includes(recorded) ? { body: namespace } : {}),
    nth: earlier.length + 1,
  };
}
