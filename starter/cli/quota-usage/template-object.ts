/** The objects that a workload would make next, as the API server would take them in. */
import type { Logger } from 'pino';
import { AdmissionDefaults } from '../../../activities/quota-resize/quota/admission-defaults.ts';
import type { NamespaceView } from '../../../activities/quota-resize/quota/namespace-view.ts';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import type { GroupResource } from '../../../domain/kernel/group-resource.ts';
import { claimTemplatesOf } from '../../../domain/quota-resize/demand/demand.ts';
import type { Missing } from '../../../domain/quota-resize/demand/missing.ts';
import { storedClaim, storedPod } from '../../../domain/quota-resize/demand/stored-object.ts';
import type { CountedObject } from '../../../domain/quota-usage/evaluator.ts';

/** An object that is not there yet. */
export interface TemplateObject {
  readonly resource: GroupResource;
  readonly object: CountedObject;
}

export const RESOURCE_CLAIMS: GroupResource = { group: 'resource.k8s.io', resource: 'resourceclaims' };

/** Makes such objects of one namespace, with the defaults that admission gives them before quotas look at them. */
export class Templates {
  readonly #view: NamespaceView;
  readonly #defaults: AdmissionDefaults;
  readonly #countsDevices: boolean;

  /** @param countsDevices whether a quota counts claims of devices; otherwise their templates are not read. */
  constructor(log: Pick<Logger, 'warn'>, view: NamespaceView, countsDevices: boolean) {
    this.#view = view;
    this.#defaults = new AdmissionDefaults(log, view);
    this.#countsDevices = countsDevices;
  }

  /** One of what is missing, and the claims of devices that would be made for it. */
  async objects(missing: Missing): Promise<readonly TemplateObject[]> {
    const { namespace } = this.#view;
    switch (missing.of) {
      case 'object':
        return [
          { resource: { group: missing.group, resource: missing.resource }, object: { metadata: { namespace } } },
        ];
      case 'claim': {
        const { metadata, spec } = storedClaim(
          missing.claim,
          missing.claim.spec?.storageClassName === undefined ? await orNothing(this.#defaults.storageClass()) : null,
        );
        const claim = { metadata: { ...metadata, namespace }, spec };
        return [{ resource: { group: '', resource: 'persistentvolumeclaims' }, object: claim }];
      }
      case 'pod':
        return [
          { resource: { group: '', resource: 'pods' }, object: await this.#pod(missing.spec) },
          ...(await this.#deviceClaims(missing)),
        ];
    }
  }

  async #pod(template: (Missing & { readonly of: 'pod' })['spec']): Promise<CountedObject> {
    const { runtimeClassName: runtimeClass = '', priorityClassName = '' } = template;
    const overhead =
      runtimeClass === '' || template.overhead !== undefined ? null : await this.#defaults.overheadOf(runtimeClass);
    const pod = storedPod(template, {
      limitRanges: await this.#view.limitRanges(),
      overheads: overhead === null ? {} : { [runtimeClass]: overhead },
      defaultPriorityClass: priorityClassName === '' ? await orNothing(this.#defaults.priorityClass()) : null,
    });
    return { metadata: { namespace: this.#view.namespace }, ...pod };
  }

  async #deviceClaims(missing: Missing): Promise<readonly TemplateObject[]> {
    if (!this.#countsDevices) return [];
    const claims: TemplateObject[] = [];
    for (const name of claimTemplatesOf(missing)) {
      const template = await this.#defaults.claimTemplate(name);
      if (template === null) continue;
      const claim = { metadata: { namespace: this.#view.namespace }, ...template };
      claims.push({ resource: RESOURCE_CLAIMS, object: claim });
    }
    return claims;
  }
}

/** Null when the user has no permission: the object is then evaluated without it. */
async function orNothing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return null;
  }
}
