/** The names of the custom resource, as its first implementation has them. */

export const GROUP = 'memcached.c5c3.io';
/** The stored version; the older one is served with the same schema. */
export const VERSION = 'v1beta1';
export const OLDER_VERSION = 'v1alpha1';
export const KIND = 'Memcached';
export const PLURAL = 'memcacheds';

/** The annotation of a Memcached whose every new value restarts its pods one by one, and that of the pods. */
export const RESTART_TRIGGER = `${GROUP}/restart-trigger`;
/** The annotation of the pods: a hash of the Secrets that they mount. */
export const SECRET_HASH = `${GROUP}/secret-hash`;
/** The annotation of an owned object: a hash of what was applied, so that a field that is no longer applied is noticed. */
export const APPLIED = `${GROUP}/applied`;

/**
 * The annotation of a Deployment that another operator made: the generation of the Memcached at which Headroom took it over. Its
 * pods stay as that operator made them until the next generation.
 */
export const TAKEN_OVER = `${GROUP}/taken-over`;

/**
 * The annotation of a Deployment whose autoscaler was switched off while it had more pods than the spec says: when the next of them
 * goes, RFC 3339. It is there until the last of them has gone.
 */
export const NEXT_POD_GOES = `${GROUP}/next-pod-goes`;

/**
 * The annotations of an owned object, and of a Deployment for its count of pods: how often something set it back in a row, and when it was
 * written last because of that, as `4 2026-11-27T10:00:00Z`.
 */
export const SET_BACK = `${GROUP}/set-back`;
export const COUNT_SET_BACK = `${GROUP}/count-set-back`;

/** The Lease by which the first implementation elects its leader, in its own namespace. */
export const FORMER_LEASE = 'd4f3c8a2.c5c3.io';

/** The field manager of everything but `spec.replicas` of the Deployment. */
export const FIELD_MANAGER = 'headroom-memcached';
/**
 * The field manager of `spec.replicas` alone. A field that an apply drops gets its default back, here 1, when nobody else
 * owns it. So the count has a manager of its own, which stops applying it while an autoscaler has it, and drops nothing.
 */
export const REPLICAS_MANAGER = 'headroom-memcached-replicas';
