/** Which requests to the API server are charged to quotas, for each resource (`Handles` of Kubernetes' evaluators). */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import { replenishes } from './changes.ts';
import type { CountedObject } from './evaluator.ts';
import type { Pod } from './pod.ts';
import { isTerminating } from './scopes.ts';

/** A request as admission sees it. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** "" is the object itself. */
  readonly subresource: string;
  readonly object?: CountedObject | undefined;
  /** Of an update, what it replaces. */
  readonly oldObject?: CountedObject | undefined;
}

function podHandles({ operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (subresource === 'resize') {
    return operation === 'UPDATE';
  }
  // An update of the pod itself charges it only where it moves it from one scope to another.
  const moves =
    operation === 'UPDATE' &&
    object !== undefined &&
    oldObject !== undefined &&
    isTerminating(object as Pod) !== isTerminating(oldObject as Pod);
  return subresource === '' && (operation === 'CREATE' || moves);
}

function volumeClaimHandles(resource: GroupResource, request: AdmissionRequest): boolean {
  const { operation, subresource, object, oldObject } = request;
  if (subresource === 'status') {
    return object !== undefined && oldObject !== undefined && replenishes(resource, oldObject, object, 0);
  }
  return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
}

/** Whether admission checks and charges the quotas of the namespace for this request. */
export function handles(resource: GroupResource, request: AdmissionRequest): boolean {
  const { operation, subresource } = request;
  switch (groupResourceName(resource)) {
    case 'pods':
      return podHandles(request);
    case 'persistentvolumeclaims':
      return volumeClaimHandles(resource, request);
    case 'services':
    case 'resourceclaims.resource.k8s.io':
      return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
    default:
      return subresource === '' && operation === 'CREATE';
  }
}
