/**
 * The permissions of the processes in a cluster. `npm run manifests` generates the roles of the chart from them, and the policy
 * that holds their writes to the fields that are named here.
 */

/** A rule of a role. */
export interface AccessRule {
  /** Whole sentences: a comment in the manifest. */
  readonly why: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  /** The setting, such as `things.secret`, that has another name than the one in `resourceNames`; that is its default. */
  readonly namedBy?: `${string}.${string}`;
  /**
   * The setting that names definitions of custom resources: the rule is there for each of them, and `GROUP` and `PLURAL` in it are those
   * of the definition.
   */
  readonly each?: `${string}.${string}`;
  /** The names that the policy of writes holds a `create` to: a role cannot. */
  readonly createdNames?: readonly string[];
  readonly verbs: readonly string[];
  /**
   * What `patch` and `update` may change: a part of the object (`status`), a field of a part (`spec.replicas`), or an entry of its
   * annotations, labels or finalizers (`metadata.annotations.KEY`).
   */
  readonly changes?: readonly string[];
  /**
   * `GROUP/KIND`: only objects whose controller, by their owner references, is of this kind are written by this rule. For
   * controllers that own other objects: a role cannot say whose Deployments may be changed or deleted.
   */
  readonly ownedBy?: string;
  /** What else has to be true of an object that is written, in CEL, for each of the resources. */
  readonly conditions?: readonly WriteCondition[];
}

/** A rule for one definition that the setting of its `each` names: `widgets.example.com`. */
export function ruleFor(rule: AccessRule, definition: string): AccessRule {
  const plural = definition.slice(0, definition.indexOf('.'));
  const written = (texts: readonly string[]): readonly string[] =>
    texts.map((text) => text.replace('PLURAL', plural).replace('GROUP', definition.slice(plural.length + 1)));
  return {
    ...rule,
    apiGroups: written(rule.apiGroups),
    resources: written(rule.resources),
    ...(rule.resourceNames === undefined ? {} : { resourceNames: written(rule.resourceNames) }),
  };
}

/** A condition of a ValidatingAdmissionPolicy on `object` and, for an update, `oldObject`. */
export interface WriteCondition {
  readonly expression: string;
  /** What is refused, as the end of a sentence that begins with who writes. */
  readonly message: string;
}

/** Permissions of one process that a controller needs in addition to the common ones. */
export interface Access {
  /** The part of the chart that grants it (tools/manifests/parts.ts says when); '' for what is always granted. */
  readonly component: string;
  /** A comment above the roles for the person who applies them. */
  readonly about?: string;
  /** In all namespaces. */
  readonly everywhere?: readonly AccessRule[];
  /** In Headroom's own namespace. */
  readonly inSystemNamespace?: readonly AccessRule[];
  /** In the cluster's own namespace: for custom resources and Secrets that are nowhere else. */
  readonly inKubeSystem?: readonly AccessRule[];
  /** In the namespaces that a value of the chart names. */
  readonly whereBound?: readonly AccessRule[];
}

/** A custom resource that a controller defines. */
export interface CustomResource {
  /** The file of deploy/chart-crds/definitions that defines it, without `.yaml`. */
  readonly component: string;
  /** What whoever applies it should know. */
  readonly about: string;
  readonly definition: () => Definition;
}

/** A CustomResourceDefinition: apiextensions.k8s.io/v1. */
export interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}
