/** The admission webhook of NodeGroups: the domain's own reading of a group, before the API server stores it. */
import { GROUP, KIND } from '../../domain/node-group/api/names.ts';
import { reviewNodeGroup } from '../../domain/node-group/api/review.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  changedSpec,
  denied,
  objectName,
} from '../admission/review.ts';
import type { AdmissionWebhooks } from '../admission/webhooks.ts';
import type { Config } from '../config.ts';

/** The webhook, where the configuration has an address for it. Defaults are those of the definition. */
export function nodeGroupAdmission({ nodeGroups }: Config): AdmissionWebhooks | undefined {
  const { webhookAddress: address, webhookCertificate: certificateFolder, webhookHost: host } = nodeGroups;
  if (address === undefined) return undefined;
  return {
    name: 'headroom-node-group',
    kind: KIND,
    reviews: { '/validate': review },
    address,
    certificateFolder,
    host,
  };
}

/** Denies what cannot be read as a NodeGroup, with all that is wrong with it, in the words of the API server. */
function review(request: AdmissionRequest): AdmissionResponse {
  if (changedSpec(request) === undefined) return allowed(request);
  const { problems, warnings } = reviewNodeGroup(request.object);
  if (problems.length === 0) return allowed(request, warnings);
  const list = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
  const subject = `${KIND}.${GROUP} ${JSON.stringify(objectName(request))}`;
  return denied(request, `${subject} is invalid: ${list}`, warnings);
}
