/** The names of the custom resources and of their marks, as the VPSie autoscaler has them. */

export const GROUP = 'autoscaler.vpsie.com';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

export const KIND = 'NodeGroup';
export const PLURAL = 'nodegroups';
export const MACHINE_KIND = 'VPSieNode';
export const MACHINE_PLURAL = 'vpsienodes';

/** The only namespace with NodeGroups and VPSieNodes. */
export const NAMESPACE = 'kube-system';

/** Keeps a NodeGroup until its machines are gone. */
export const GROUP_FINALIZER = `nodegroup.${GROUP}/finalizer`;
/** Keeps a VPSieNode until its machine is gone. */
export const MACHINE_FINALIZER = `vpsienode.${GROUP}/finalizer`;

/** Labels of VPSieNodes and Nodes. */
export const MANAGED_LABEL = `${GROUP}/managed`;
export const GROUP_LABEL = `${GROUP}/nodegroup`;
/** The label of a VPSieNode: the UID of the NodeGroup that holds it. One without it is nobody's yet, and taken by the group of its name. */
export const GROUP_UID_LABEL = `${GROUP}/nodegroup-uid`;
/** The VPSieNode of a Node. */
export const VPSIENODE_LABEL = `${GROUP}/vpsienode`;
export const DATACENTER_LABEL = `${GROUP}/datacenter`;
export const OFFERING_LABEL = `${GROUP}/offering`;

/** The annotation that says why there is a machine. Those without one, or with `metrics`, may be taken away. */
export const CREATION_REASON = `${GROUP}/creation-reason`;
/** The annotation of a VPSieNode: the decision that it was created for. */
export const DECISION = `${GROUP}/decision`;
/** The annotation of a VPSieNode: with `true` its machine goes when it is deleted, whatever runs on its Node. */
export const DELETE_WITHOUT_DRAIN = `${GROUP}/delete-without-drain`;
/** The annotation of a VPSieNode: why it is not known which of the provider's new machines is its own, a sentence. */
export const UNCLEAR = `${GROUP}/creation-unclear`;
/** The annotation of a VPSieNode: the `ScaleUpReason` of its decision. */
export const SCALE_UP_REASON = `${GROUP}/scale-up-reason`;

/** The annotation of a VPSieNode: the kinds of the pods that it came for, with blanks between. */
export const CAME_FOR = `${GROUP}/came-for`;
/** The annotation of a VPSieNode: how much later than others kube-scheduler should fill its Node; and the start of the taints that say so. */
export const FILL_LATER = `${GROUP}/fill-later`;
/** The annotation of a VPSieNode: the UID of the Node in whose place it came. */
export const REPLACES = `${GROUP}/replaces`;

/** The VPSie autoscaler's Lease in `kube-system`: while it is renewed, nothing is written for a NodeGroup. */
export const AUTOSCALER_LEASE = 'vpsie-autoscaler-leader';
