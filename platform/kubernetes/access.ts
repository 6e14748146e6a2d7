/** The permissions of the processes in a cluster. `npm run manifests` generates the roles in deploy/ from them. */

/** A rule of a role. */
export interface AccessRule {
  /** Whole sentences: a comment in the manifest. */
  readonly why: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Permissions of one process that a controller needs in addition to the common ones. */
export interface Access {
  /** The folder of deploy/ whose manifest grants it; '' for what is always granted. */
  readonly component: string;
  /** A comment above the roles for the person who applies them. */
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
