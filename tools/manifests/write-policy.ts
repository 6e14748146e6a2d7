/** The policies that hold what each process writes to the fields that its controllers name. */
import { type PairName, pairNames, pairOf, processName } from '../../domain/kernel/controllers.ts';
import type { AccessRule, WriteCondition } from '../../platform/kubernetes/access.ts';
import { comment } from './comment.ts';
import { partOfChart } from './parts.ts';
import { definitions, GROUP, KUBE_SYSTEM, META, NAMESPACE, PLURAL, type ProcessAccess } from './rbac.ts';

/** What may be written of one resource. */
interface Write {
  readonly operations: readonly string[];
  /** Absent: everywhere, and any name. */
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  readonly changes: readonly string[];
  /** The setting with the definitions for each of which it is there. */
  readonly each?: string;
  readonly conditions: readonly WriteCondition[];
}

const OPERATIONS: Readonly<Record<string, string>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
};
const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

const ABOUT = `What worker and starter write, whatever their roles allow: the listed resources, and of these the listed fields. The API server refuses anything else in their names. The list is that of the definitions of the controllers, of those that are switched off as well. Where each controller has processes of its own, each account has the list of its own controller.

Roles cannot say which fields of an object may be changed: who may put a Deployment to sleep may change its image as well. So this is a part of what is deployed, and not an option.

Where another admission webhook changes an object when Headroom writes it, that write has more in it than Headroom's, and is refused: add those fields to the list by a patch of kustomize, which may be Helm's --post-renderer.`;

/** The policy of each account, with its binding: of worker and starter, or of those of each pair that is there. */
export function writePolicyManifest(accesses: readonly ProcessAccess[]): string {
  const apart = pairNames.map((pair) => {
    const own = accesses.filter(({ controller }) => controller === null || pairOf(controller) === pair);
    const { condition } = partOfChart(pair);
    const documents = policies(own, pair);
    return condition === null ? documents : `{{- if ${condition} }}\n---\n${documents}{{- end }}\n`;
  });
  return `${comment(`\n${ABOUT}`)}${DEFINED}{{- if eq $.Values.processes "together" }}
${policies(accesses, null)}{{- else }}
${apart.join('')}{{- end }}
`;
}

function policies(accesses: readonly ProcessAccess[], pair: PairName | null): string {
  return [...Map.groupBy(accesses, ({ process }) => process)]
    .flatMap(([process, own]) => policyOf(processName(process, pair), process, writesOf(own)))
    .join('---\n');
}

function writesOf(accesses: readonly ProcessAccess[]): ReadonlyMap<string, Write> {
  const writes = new Map<string, Write>();
  for (const { access } of accesses) {
    const scoped = [
      ...[...(access.everywhere ?? []), ...(access.whereBound ?? [])].map((rule) => ({ rule, namespaces: undefined })),
      ...(access.inSystemNamespace ?? []).map((rule) => ({ rule, namespaces: [NAMESPACE] })),
      ...(access.inKubeSystem ?? []).map((rule) => ({ rule, namespaces: [KUBE_SYSTEM] })),
    ];
    for (const { rule, namespaces } of scoped) {
      for (const resource of resourcesOf(rule)) {
        const write = writeOf(rule, namespaces);
        if (write === null) continue;
        const key = rule.ownedBy === undefined ? resource : `${resource} of ${rule.ownedBy}`;
        writes.set(key, merged(key, writes.get(key), write));
      }
    }
  }
  // What may be written of every object of a resource may be written of those with an owner as well.
  for (const [key, write] of writes) {
    const ofEvery = writes.get(key.split(' of ')[0] ?? key);
    // What is bound to names is some objects, and those have no owner.
    if (ofEvery !== undefined && ofEvery !== write && ofEvery.names === undefined)
      writes.set(key, { ...merged(key, ofEvery, write), conditions: [] });
  }
  return new Map([...writes].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function resourcesOf({ apiGroups, resources }: AccessRule): readonly string[] {
  return apiGroups.flatMap((group) => resources.map((resource) => (group === '' ? resource : `${group}/${resource}`)));
}

/** Null for a rule that only reads. */
function writeOf(rule: AccessRule, namespaces: readonly string[] | undefined): Write | null {
  const { resources, verbs, changes = [], conditions = [], ownedBy } = rule;
  const operations = verbs
    .filter((verb) => !READING.has(verb))
    .map((verb) => {
      const operation = OPERATIONS[verb];
      if (operation === undefined) throw new Error(`no policy holds the verb ${verb} on ${resources.join(', ')}`);
      return operation;
    });
  if (operations.length === 0) return null;
  if (ownedBy !== undefined && conditions.length > 0) {
    throw new Error(`expected no conditions beside the owner of ${resources.join(', ')}`);
  }
  if (operations.includes('UPDATE') !== changes.length > 0) {
    throw new Error(`expected the fields that a write of ${resources.join(', ')} changes, where it changes any`);
  }
  const resourceNames = rule.resourceNames ?? rule.createdNames;
  return {
    operations: [...new Set(operations)],
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(resourceNames === undefined ? {} : { names: resourceNames }),
    changes,
    conditions,
    ...(rule.each === undefined ? {} : { each: rule.each }),
  };
}

const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])];

function includes(one: Write, other: Write): boolean {
  return (['operations', 'changes'] as const).every((key) => other[key].every((each) => one[key].includes(each)));
}

/** Several controllers may write the same: in the same places, or, by name, objects of which the same may be changed. */
function merged(resource: string, one: Write | undefined, other: Write): Write {
  if (one === undefined) return other;
  if (JSON.stringify(one.namespaces) !== JSON.stringify(other.namespaces)) {
    throw new Error(`expected one list of namespaces for all writes of ${resource}`);
  }
  // What may be done with every object may be done with some of them.
  if (one.names === undefined && other.names !== undefined && includes(one, other)) return one;
  if (other.names === undefined && one.names !== undefined && includes(other, one)) return other;
  const isSame = includes(one, other) && includes(other, one);
  const areSameNames = JSON.stringify(one.names) === JSON.stringify(other.names);
  if (!areSameNames && (!isSame || one.names === undefined || other.names === undefined)) {
    throw new Error(`expected one list of names for all writes of ${resource}, or the same changes for each`);
  }
  const present = new Set(one.conditions.map(({ expression }) => expression));
  return {
    ...one,
    ...(one.names === undefined ? {} : { names: union(one.names, other.names ?? []) }),
    operations: union(one.operations, other.operations),
    changes: union(one.changes, other.changes),
    conditions: [...one.conditions, ...other.conditions.filter(({ expression }) => !present.has(expression))],
  };
}

function policyOf(account: string, process: string, writes: ReadonlyMap<string, Write>): readonly string[] {
  const name = `${account}-writes`;
  return [
    `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: ${name}
${META}spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: ["*"]
        apiVersions: ["*"]
        operations: ["*"]
        resources: ["*/*"]
  matchConditions:
    - name: is-the-${process}
      expression: "request.userInfo.username == 'system:serviceaccount:${NAMESPACE}:${account}'"
  variables:
    # What may be written: by resource, or by resource and the kind of its controller, the operations, where it is bound to them
    # the namespaces and names, and what an update may change.
    - name: writes
      expression: |-
${writesText(writes)}
{{- template "headroom.writes" }}
  validations:
    - expression: "variables.isListed"
      messageExpression: >-
        '${account} may not ' + request.operation.lowerAscii() + ' ' + variables.what
    - expression: "request.operation != 'UPDATE' || variables.foreign.size() == 0"
      messageExpression: >-
        '${account} may not change ' + variables.foreign.join(', ') + ' of ' + variables.what
${conditionsText(account, writes)}`,
    `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: ${name}
${META}spec:
  policyName: ${name}
  validationActions: [Deny]
`,
  ];
}

/** A literal in CEL, a resource in each line. */
function writesText(writes: ReadonlyMap<string, Write>): string {
  const lines = [...writes].map(([resource, { operations, namespaces, names, changes, each }]) => {
    const entries = { operations, namespaces, names, changes: changes.length === 0 ? undefined : changes };
    const text = Object.entries(entries)
      .filter((entry): entry is [string, readonly string[]] => entry[1] !== undefined)
      .map(([key, values]) => `            '${key}': [${values.map((value) => `'${value}'`).join(', ')}]`);
    const line = (name: string): string => `          '${name}': {\n${text.join(',\n')}\n          }`;
    if (each === undefined) return { isFixed: true, line: line(resource) };
    const ofEach = line(resource.replace('GROUP', GROUP).replace('PLURAL', PLURAL));
    return { isFixed: false, line: `{{- range ${definitions(each)} }},\n${ofEach}{{- end }}` };
  });
  // What is there for each definition follows one that is always there.
  const [fixed, others] = [lines.filter(({ isFixed }) => isFixed), lines.filter(({ isFixed }) => !isFixed)];
  if (fixed.length === 0) return '        {}';
  return `        {\n${fixed.map(({ line }) => line).join(',\n')}${others.map(({ line }) => line).join('')}\n        }`;
}

function conditionsText(account: string, writes: ReadonlyMap<string, Write>): string {
  return [...writes]
    .flatMap(([resource, { conditions }]) =>
      conditions.map(
        ({ expression, message }) => `    - expression: >-
        variables.resource != '${resource}' || request.operation == 'DELETE' ||
        (${expression})
      message: "${account} ${message}"
`,
      ),
    )
    .join('');
}

/** The keys of two maps by which they differ, of those that may not be changed. */
function differing(now: string, before: string, isAllowed: string): string {
  return `${now}.filter(k, !(${isAllowed}) && (!(k in ${before}) || ${now}[k] != ${before}[k])) +
        ${before}.filter(k, !(${isAllowed}) && !(k in ${now}))`;
}

/** The same for one part of an object, of which single fields may be changed. */
function part(name: string, path: string, [now, before]: readonly [string, string]): string {
  return `    - name: ${name}Now
      expression: "${now}"
    - name: ${name}Before
      expression: "${before}"
    - name: ${name}
      expression: >-
        '${path}' in variables.changes ? [] : (${differing(
          `variables.${name}Now`,
          `variables.${name}Before`,
          `('${path}.' + k) in variables.changes`,
        )}).map(k, '${path}.' + k)`;
}

function ofMetadata(key: string): readonly [string, string] {
  return [`variables.now.metadata[?'${key}'].orValue({})`, `variables.before.metadata[?'${key}'].orValue({})`];
}

/** Of an update: each part of the object by itself, so that a field that Kubernetes gets one day is held as well. */
const VARIABLES = `    - name: resource
      expression: >-
        (request.resource.group == '' ? '' : request.resource.group + '/') + request.resource.resource +
        (request.?subResource.orValue('') == '' ? '' : '/' + request.?subResource.orValue(''))
    - name: what
      expression: >-
        variables.resource + ' ' + (request.?namespace.orValue('') == '' ? '' : request.?namespace.orValue('') + '/') +
        request.?name.orValue('')
    # The kind of the object's controller: of one that is created as it is to be, of any other as it is.
    - name: subject
      expression: "request.operation == 'CREATE' ? dyn(object) : dyn(oldObject)"
    - name: owners
      expression: >-
        variables.subject == null ? [] :
        dyn(variables.subject[?'metadata'].orValue({}))[?'ownerReferences'].orValue([]).filter(o, dyn(o)[?'controller'].orValue(false))
    - name: owned
      expression: >-
        variables.owners.size() == 0 ? '' : variables.resource + ' of ' +
        dyn(variables.owners[0]).apiVersion.split('/')[0] + '/' + dyn(variables.owners[0]).kind
    - name: write
      expression: >-
        variables.writes[?variables.owned].orValue(variables.writes[?variables.resource].orValue({'operations': []}))
    - name: isListed
      expression: >-
        request.operation in variables.write['operations'] &&
        (!('namespaces' in variables.write) || request.?namespace.orValue('') in variables.write['namespaces']) &&
        (!('names' in variables.write) || request.?name.orValue('') in variables.write['names'])
    - name: changes
      expression: "variables.write[?'changes'].orValue([])"
    - name: now
      expression: "dyn(object)"
    - name: before
      expression: "dyn(oldObject)"
    - name: sections
      expression: >-
        ${differing(
          'variables.now',
          'variables.before',
          "k in ['apiVersion', 'kind', 'metadata', 'spec'] || k in variables.changes",
        )}
${part('spec', 'spec', ["variables.now[?'spec'].orValue({})", "variables.before[?'spec'].orValue({})"])}
    # What the API server itself writes is not compared.
    - name: metadata
      expression: >-
        (${differing(
          'variables.now.metadata',
          'variables.before.metadata',
          "k in ['managedFields', 'resourceVersion', 'generation', 'annotations', 'labels', 'finalizers'] || 'metadata.' + k in variables.changes",
        )}).map(k, 'metadata.' + k)
${part('annotations', 'metadata.annotations', ofMetadata('annotations'))}
${part('labels', 'metadata.labels', ofMetadata('labels'))}
    - name: finalizers
      expression: >-
        variables.now.metadata[?'finalizers'].orValue([]).filter(f, !(('metadata.finalizers.' + f) in variables.changes)) ==
        variables.before.metadata[?'finalizers'].orValue([]).filter(f, !(('metadata.finalizers.' + f) in variables.changes)) ?
        [] : ['metadata.finalizers']
    - name: foreign
      expression: >-
        variables.sections + variables.spec + variables.metadata + variables.annotations + variables.labels +
        variables.finalizers`;

const DEFINED = `{{- define "headroom.writes" }}
${VARIABLES}
{{- end }}
`;
