/** What worker and starter may do by the roles of deploy/ that are bound to them, and what its policy of writes admits. */
import { parse } from 'yaml';
import { z } from 'zod';
import type { Manifest } from './rendered.ts';

export const SYSTEM = 'namespace-resizer-system';

/** One verb on one resource. */
export interface Right {
  /** `worker`, or `worker-node-group` where each controller has its own. */
  readonly process: string;
  readonly verb: string;
  /** `apps/deployments`, `resourcequotas/status`. */
  readonly resource: string;
  /** The only objects that it is for; none: all. */
  readonly names: readonly string[];
  /** The only namespace that it is for; `*`: the whole cluster. */
  readonly namespace: string;
}

const rule = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).default([]),
  verbs: z.array(z.string()),
});
const subject = z.strictObject({
  kind: z.literal('ServiceAccount'),
  name: z.stringFormat('account', /^headroom-(?:worker|starter)(?:-[a-z-]+)?$/),
  namespace: z.literal(SYSTEM),
});
const binding = z.looseObject({
  roleRef: z.looseObject({ kind: z.enum(['Role', 'ClusterRole']), name: z.string() }),
  subjects: z.array(subject),
});

/** @throws Error where a role is bound to anybody but the accounts of Headroom, or is not among the objects. */
export function rightsOf(objects: readonly Manifest[]): readonly Right[] {
  return objects
    .filter(({ kind }) => kind === 'ClusterRoleBinding' || kind === 'RoleBinding')
    .flatMap((object) => {
      const { roleRef, subjects } = binding.parse(object);
      const namespace = object.kind === 'ClusterRoleBinding' ? '*' : (object.metadata.namespace ?? 'default');
      const role = objects.find(
        ({ kind, metadata }) =>
          kind === roleRef.kind &&
          metadata.name === roleRef.name &&
          (kind === 'ClusterRole' || metadata.namespace === namespace),
      );
      if (role === undefined) throw new Error(`there is no ${roleRef.kind} ${roleRef.name}`);
      const rules = z.array(rule).parse(role['rules']);
      return subjects.flatMap(({ name }) => rules.flatMap((granted) => rightsBy(granted, name.slice(9), namespace)));
    });
}

function rightsBy(granted: z.infer<typeof rule>, process: string, namespace: string): readonly Right[] {
  return granted.apiGroups.flatMap((group) =>
    granted.resources.flatMap((name) =>
      granted.verbs.map((verb) => ({
        process,
        verb,
        resource: group === '' ? name : `${group}/${name}`,
        names: granted.resourceNames,
        namespace,
      })),
    ),
  );
}

export function isWrite({ verb }: Right): boolean {
  return !['get', 'list', 'watch'].includes(verb);
}

/** `worker: apps/deployments create, patch`, a line for each resource, with where and for which objects it is. */
export function linesOf(rights: readonly Right[]): readonly string[] {
  const byObject = Map.groupBy(rights, ({ process, resource, names, namespace }) => {
    const only = names.length === 0 ? '' : `(${names.join(', ')})`;
    return `${process}: ${resource}${only}${namespace === '*' ? '' : ` in ${namespace}`}`;
  });
  return [...byObject]
    .map(([what, own]) => `${what} ${[...new Set(own.map(({ verb }) => verb))].toSorted().join(', ')}`)
    .toSorted();
}

const write = z.strictObject({
  operations: z.array(z.enum(['CREATE', 'UPDATE', 'DELETE'])),
  namespaces: z.array(z.string()).optional(),
  names: z.array(z.string()).optional(),
  changes: z.array(z.string()).optional(),
});
const policy = z.looseObject({
  spec: z.looseObject({
    failurePolicy: z.string(),
    matchConstraints: z.unknown(),
    matchConditions: z.array(z.strictObject({ name: z.string(), expression: z.string() })),
    variables: z.array(z.strictObject({ name: z.string(), expression: z.string() })),
    validations: z.array(z.looseObject({ expression: z.string(), message: z.string().optional() })),
  }),
});
const policyBinding = z.looseObject({
  spec: z.strictObject({ policyName: z.string(), validationActions: z.array(z.string()) }),
});

/** The policy of what a process writes: its list by `apps/deployments` or `apps/deployments of GROUP/KIND`, and how it is bound. */
export function writePolicyOf(process: string, objects: readonly Manifest[]) {
  const name = `headroom-${process}-writes`;
  const named = (kind: string) => objects.find((object) => object.kind === kind && object.metadata.name === name);
  const { spec } = policy.parse(named('ValidatingAdmissionPolicy'));
  const list = spec.variables.find((variable) => variable.name === 'writes')?.expression;
  // A map of CEL is one of YAML's flow style.
  const writes = new Map(Object.entries(z.record(z.string(), write).parse(parse(list ?? ''))));
  return { writes, ...spec, binding: policyBinding.parse(named('ValidatingAdmissionPolicyBinding')).spec, name };
}
