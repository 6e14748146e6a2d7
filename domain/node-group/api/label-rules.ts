/** Kubernetes' rules for labels, which hold for taints as well. */

/** The longest value of a label. */
export const LONGEST_VALUE = 63;
/** Empty is one. */
export const LABEL_VALUE = /^([a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?)?$/;

/** A DNS name, a slash, and a name of at most 63 characters; the first two may be absent. */
export const LABEL_KEY =
  /^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\/)?[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/;
const LONGEST_PREFIX = 253;
export const LONGEST_KEY = LONGEST_PREFIX + '/'.length + LONGEST_VALUE;

/** What is right, as the end of a sentence. */
export const LABEL_KEY_FORM = 'a label as Kubernetes has them, such as team or example.com/team';

export function isLabelKey(key: string): boolean {
  return LABEL_KEY.test(key) && key.lastIndexOf('/') <= LONGEST_PREFIX;
}
