/** A NodeGroup of a named cluster. All NodeGroups are in `kube-system`, so their names are unique in the cluster. */
export interface NodeGroupTarget {
  readonly cluster: string;
  /** The name of the NodeGroup. */
  readonly group: string;
}

/** A node that is drained, as its workflow knows it. */
export interface DrainTarget extends NodeGroupTarget {
  readonly node: string;
  /** The UID of the Node object: a node that comes again under the same name is another one. */
  readonly uid: string;
}

/** The workflow id of a NodeGroup; at most one workflow runs for it. */
export function nodeGroupId({ cluster, group }: NodeGroupTarget): string {
  return `node-group/${cluster}/${group}`;
}

/** The workflow id of a drain; a node is drained by at most one workflow. */
export function nodeDrainId({ cluster, uid }: Pick<DrainTarget, 'cluster' | 'uid'>): string {
  return `node-drain/${cluster}/${uid}`;
}
