/** What the text of manifest files says of ResourceQuotas, and the error of an edit of one that is impossible. */
export { ManifestEditError } from './error.ts';
export { valuesInGit } from './limits.ts';
