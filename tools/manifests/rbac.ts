/** Roles as templates of the chart, each rule below its reason. */
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { controllerOfPart } from '../../starter/cli/doctor/chart-parts.ts';
import type { Access, AccessRule } from '../../platform/kubernetes/access.ts';
import { comment } from './comment.ts';

/** Headroom's own. */
export const NAMESPACE = '{{ $.Release.Namespace }}';
/** Labels and annotations, as all objects of the chart have them. */
export const META = '  {{- include "headroom.meta" (list $) | nindent 2 }}\n';
/** The cluster's own. */
export const KUBE_SYSTEM = 'kube-system';

/** What one process may do, and for which controller; null: for all. */
export interface ProcessAccess {
  readonly process: 'worker' | 'starter';
  readonly controller: ControllerName | null;
  readonly access: Access;
}

/** A part of what is granted, by the name that the tables of access give it, and when the chart has it. */
export interface PartOfChart {
  readonly part: string;
  /** A condition in the chart's templates; null: always. */
  readonly condition: string | null;
  /** The value with the namespaces in which its roles are bound; null: it has none to bind. */
  readonly whereBound: string | null;
  /** The entry of these namespaces that stands for all of them. Absent: none does. */
  readonly everywhereWith?: string;
}

/** The documents of one part: of each process its account, where it has none yet, and its roles. */
export function rbacTemplate(
  { part, whereBound, everywhereWith }: PartOfChart,
  accesses: readonly ProcessAccess[],
): string {
  const abouts = accesses.flatMap(({ access: { about } }) => (about === undefined ? [] : [about]));
  const documents = [...Map.groupBy(accesses, ({ process }) => process)].flatMap(([process, own]) => {
    const name = ['headroom', process, ...part.split('/')].filter((part) => part !== '').join('-');
    return [
      ...(part === '' ? [accounts(process)] : []),
      ...roleOf(
        { process, part, name, namespace: null },
        rulesOf(own, ({ everywhere }) => everywhere),
      ),
      ...roleOf(
        { process, part, name, namespace: NAMESPACE },
        rulesOf(own, ({ inSystemNamespace }) => inSystemNamespace),
      ),
      ...roleOf(
        { process, part, name, namespace: KUBE_SYSTEM },
        rulesOf(own, ({ inKubeSystem }) => inKubeSystem),
      ),
      ...roleToBind(
        { process, part, name: ['headroom', ...part.split('/'), process].join('-'), namespace: whereBound },
        rulesOf(own, (access) => access.whereBound),
        everywhereWith,
      ),
    ];
  });
  const about = abouts.length === 0 ? '' : comment(`\n${abouts.join('\n\n')}`);
  return `${about}${documents.join('---\n')}`;
}

/** One for each pair that there is. */
function accounts(process: string): string {
  return `{{- range $at, $pair := include "headroom.pairs" $ | fromYamlArray }}
{{- if $at }}
---
{{- end }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: headroom-${process}{{ $pair.suffix }}
  namespace: ${NAMESPACE}
${META}{{- end }}
`;
}

/** The rules with the controllers that need them. */
function rulesOf(
  accesses: readonly ProcessAccess[],
  of: (access: Access) => readonly AccessRule[] | undefined,
): string {
  return (
    accesses
      .map(({ controller, access }) => {
        const rules = of(access) ?? [];
        const isShared = accesses.some((other) => other.controller !== controller);
        const title = controller === null || rules.length === 0 || !isShared ? '' : comment(`For ${controller}.`, '  ');
        return `${title}${rules.map(ruleText).join('')}`;
      })
      .join('')
      // Rules for the same definitions are in one loop.
      .replaceAll(/ {2}\{\{- end \}\}\n {2}\{\{- range .*\n/g, '')
  );
}

/** The definitions that a setting names, as a list in JSON. */
export function definitions(setting: string): string {
  return `(include "headroom.definitions" (list $ ${setting
    .split('.')
    .map((part) => `"${part}"`)
    .join(' ')}) | fromJsonArray)`;
}

/** Of the definition in the loop of a template. */
export const PLURAL = '{{ . | splitList "." | first }}';
export const GROUP = '{{ . | splitList "." | rest | join "." }}';

const END = '  {{- end }}\n';

function ruleText(rule: AccessRule): string {
  if (rule.each === undefined) return textOf(rule);
  const text = textOf(rule).replaceAll('PLURAL', PLURAL).replaceAll('GROUP', GROUP);
  return `  {{- range ${definitions(rule.each)} }}\n${text}${END}`;
}

function textOf({ why, apiGroups, resources, resourceNames, namedBy, verbs }: AccessRule): string {
  const names =
    resourceNames === undefined
      ? ''
      : `    resourceNames: ${namedBy === undefined ? list(resourceNames) : named(namedBy, resourceNames)}\n`;
  return `${comment(why, '  ')}  - apiGroups: ${list(apiGroups)}
    resources:${lines(resources)}
${names}    verbs: ${list(verbs)}
`;
}

/** The name that the values have for it, or the default. */
function named(setting: string, [byDefault = '']: readonly string[]): string {
  const path = setting.split('.').map((part) => `"${part}"`);
  return `[{{ dig ${path.join(' ')} "${byDefault}" $.Values.config }}]`;
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

/** A role with a binding in each namespace that a value names, or everywhere; nothing where it has no rules. */
function roleToBind(
  { process, part, name, namespace: value }: RoleName,
  rules: string,
  everywhereWith?: string,
): readonly string[] {
  if (rules === '') return [];
  if (value === null) throw new Error(`expected the value with the namespaces in which ${name} is bound`);
  const role = { kind: 'ClusterRole', name, process, part };
  const metadata = `metadata:\n  name: ${name}\n${META}`;
  const binding = bindingText('RoleBinding', `metadata:\n  name: ${name}\n  namespace: {{ . }}\n${META}`, role);
  const bound = `{{- range ${value} }}\n---\n${binding}{{- end }}\n`;
  const everywhere =
    everywhereWith === undefined
      ? bound
      : `{{- if has ${everywhereWith} ${value} }}\n---\n${bindingText('ClusterRoleBinding', metadata, role)}{{- else }}${bound}{{- end }}\n`;
  return [`${roleText('ClusterRole', metadata, rules)}${everywhere}`];
}

function roleText(kind: 'ClusterRole' | 'Role', metadata: string, rules: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
${metadata}rules:
${rules}`;
}

interface RoleName {
  readonly process: string;
  /** Whose accounts it is for: those of its controller, or all of the process where it is of none. */
  readonly part: string;
  readonly name: string;
  /** Null for a ClusterRole. */
  readonly namespace: string | null;
}

/** A role and its binding to the account of the process; nothing where it has no rules. */
function roleOf({ process, part, name, namespace }: RoleName, rules: string): readonly string[] {
  if (rules === '') return [];
  const kind = namespace === null ? 'ClusterRole' : 'Role';
  const metadata = `metadata:
  name: ${name}
${namespace === null ? '' : `  namespace: ${namespace}\n`}${META}`;
  return [roleText(kind, metadata, rules), bindingText(`${kind}Binding`, metadata, { kind, name, process, part })];
}

function bindingText(
  kind: string,
  metadata: string,
  role: { readonly kind: string; readonly name: string; readonly process: string; readonly part: string },
): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
${metadata}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${role.kind}
  name: ${role.name}
subjects:
${subjects(role)}`;
}

function subjects({ process, part }: { readonly process: string; readonly part: string }): string {
  const controller = controllerOfPart(part);
  const suffix = controller === null ? '.suffix' : `include "headroom.suffix" (list $ "${controller}")`;
  const subject = `  - kind: ServiceAccount
    name: headroom-${process}{{ ${suffix} }}
    namespace: ${NAMESPACE}
`;
  return controller === null
    ? `  {{- range include "headroom.pairs" $ | fromYamlArray }}\n${subject}  {{- end }}\n`
    : subject;
}
