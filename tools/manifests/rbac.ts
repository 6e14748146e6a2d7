/** Roles in YAML, each rule below its reason. */
import type { Access, AccessRule } from '../../platform/kubernetes/access.ts';
import { comment } from './comment.ts';

/** Headroom's own. */
export const NAMESPACE = 'namespace-resizer-system';
/** The cluster's own. */
export const KUBE_SYSTEM = 'kube-system';

/** What one process may do, and for which controller; null: for all. */
export interface ProcessAccess {
  readonly process: 'worker' | 'starter';
  readonly controller: string | null;
  readonly access: Access;
}

/** The documents of one component: of each process its account, where it has none yet, and its roles. */
export function rbacManifest(component: string, accesses: readonly ProcessAccess[]): string {
  const abouts = accesses.flatMap(({ access: { about } }) => (about === undefined ? [] : [about]));
  const documents = [...Map.groupBy(accesses, ({ process }) => process)].flatMap(([process, own]) => {
    const name = ['headroom', process, ...component.split('/')].filter((part) => part !== '').join('-');
    return [
      ...(component === '' ? [account(process)] : []),
      ...roleOf(
        { process, name, namespace: null },
        rulesOf(own, ({ everywhere }) => everywhere),
      ),
      ...roleOf(
        { process, name, namespace: NAMESPACE },
        rulesOf(own, ({ inSystemNamespace }) => inSystemNamespace),
      ),
      ...roleOf(
        { process, name, namespace: KUBE_SYSTEM },
        rulesOf(own, ({ inKubeSystem }) => inKubeSystem),
      ),
      ...roleToBind(
        ['headroom', ...component.split('/'), process].join('-'),
        rulesOf(own, ({ whereBound }) => whereBound),
      ),
    ];
  });
  const about = abouts.length === 0 ? '' : comment(`\n${abouts.join('\n\n')}`);
  return `${about}${documents.join('---\n')}`;
}

function account(process: string): string {
  return `apiVersion: v1
kind: ServiceAccount
metadata:
  name: headroom-${process}
  namespace: ${NAMESPACE}
`;
}

/** The rules with the controllers that need them. */
function rulesOf(
  accesses: readonly ProcessAccess[],
  of: (access: Access) => readonly AccessRule[] | undefined,
): string {
  return accesses
    .map(({ controller, access }) => {
      const rules = of(access) ?? [];
      const isShared = accesses.some((other) => other.controller !== controller);
      const title = controller === null || rules.length === 0 || !isShared ? '' : comment(`For ${controller}.`, '  ');
      return `${title}${rules.map(ruleText).join('')}`;
    })
    .join('');
}

function ruleText({ why, apiGroups, resources, resourceNames, verbs }: AccessRule): string {
  const names = resourceNames === undefined ? '' : `    resourceNames: ${list(resourceNames)}\n`;
  return `${comment(why, '  ')}  - apiGroups: ${list(apiGroups)}
    resources:${lines(resources)}
${names}    verbs: ${list(verbs)}
`;
}

/** What fits in a line of the formatter behind a key. */
const LIST_WIDTH = 105;

/** A list behind a key: in its line, or with a line for each where it is long, as the formatter writes it. */
function lines(items: readonly string[]): string {
  const short = list(items);
  return short.length <= LIST_WIDTH
    ? ` ${short}`
    : `\n      [\n${items.map((item) => `        ${quoted(item)},\n`).join('')}      ]`;
}

function list(items: readonly string[]): string {
  return `[${items.map(quoted).join(', ')}]`;
}

/** `""` and `"*"` need their quotes. */
function quoted(item: string): string {
  return /^[a-z]/.test(item) ? item : `"${item}"`;
}

/** A role without a binding: people name it in those of their namespaces. */
function roleToBind(name: string, rules: string): readonly string[] {
  return rules === '' ? [] : [roleText('ClusterRole', `metadata:\n  name: ${name}\n`, rules)];
}

function roleText(kind: 'ClusterRole' | 'Role', metadata: string, rules: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
${metadata}rules:
${rules}`;
}

interface RoleName {
  readonly process: string;
  readonly name: string;
  /** Null for a ClusterRole. */
  readonly namespace: string | null;
}

/** A role and its binding to the account of the process; nothing where it has no rules. */
function roleOf({ process, name, namespace }: RoleName, rules: string): readonly string[] {
  if (rules === '') return [];
  const kind = namespace === null ? 'ClusterRole' : 'Role';
  const metadata = `metadata:
  name: ${name}
${namespace === null ? '' : `  namespace: ${namespace}\n`}`;
  return [
    roleText(kind, metadata, rules),
    `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
${metadata}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: headroom-${process}
    namespace: ${NAMESPACE}
`,
  ];
}
