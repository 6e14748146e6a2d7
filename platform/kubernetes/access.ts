/** What the processes may do in a cluster. `npm run manifests` writes the roles of deploy/ from it. */

/** A rule of a role. */
export interface AccessRule {
  /** Whole sentences: a comment in the manifest. */
  readonly why: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What a controller needs of one process, beside what every controller does. */
export interface Access {
  /** The folder of deploy/ whose manifest grants it; '' for what is always granted. */
  readonly component: string;
  /** What whoever applies it should know, above the roles. */
  readonly about?: string;
  /** In all namespaces. */
  readonly everywhere?: readonly AccessRule[];
  /** In Headroom's own namespace. */
  readonly inSystemNamespace?: readonly AccessRule[];
}

/** A custom resource that a controller defines. */
export interface CustomResource {
  /** The folder of deploy/ whose `crd.yaml` defines it. */
  readonly component: string;
  /** What whoever applies it should know. */
  readonly about: string;
  readonly definition: () => object;
}
