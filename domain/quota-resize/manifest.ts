/**
 * Finding a ResourceQuota in the text of manifest files, and changing its limits there without touching anything else.
 */
export { unifiedDiff } from './manifest-diff.ts';
export { editQuota, ManifestEditError, type Unplaceable, valuesInGit } from './manifest-edit.ts';
export { findQuotas, type Located, locateQuota } from './manifest-locate.ts';
