/** Whether the accounts of worker and starter have the rights of what is switched on. */
import { ApiException, AuthorizationV1Api, type V1ResourceAttributes } from '@kubernetes/client-node';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { type PairName, processName } from '../../../domain/kernel/controllers.ts';
import { type Access, type AccessRule, ruleFor } from '../../../platform/kubernetes/access.ts';
import { workerAccess } from '../../../worker/access.ts';
import { leaseGcAccess } from '../../../worker/lease-gc/access.ts';
import { lightsOutAccess } from '../../../worker/lights-out/access.ts';
import { memcachedAccess } from '../../../worker/memcached/access.ts';
import { nodeGroupAccess } from '../../../worker/node-group/access.ts';
import { quotaResizeAccess } from '../../../worker/quota-resize/access.ts';
import { starterAccess } from '../../access.ts';
import { controllerOfPart, definitionsNamed, needsPart } from './chart-parts.ts';
import type { Config } from '../../config.ts';
import { controllers } from '../../registry.ts';
import { type Account, type DoctorContext, serviceAccountOf } from './context.ts';
import type { Findings } from './finding.ts';

/** Questions at once: the API server answers each in a few milliseconds. */
const AT_ONCE = 10;
/** Missing rights that are named. */
const NAMED = 8;

const workers = { leaseGcAccess, lightsOutAccess, memcachedAccess, nodeGroupAccess, quotaResizeAccess } as const;

/** Rights of the parts of the chart that these settings need, of one controller or of all. Its optional ones (`rights`) are asked for by nothing here. */
function needed({ process, pair }: Account, config: Config): readonly Access[] {
  const all =
    process === 'worker'
      ? [workerAccess, ...Object.values(workers).flat()]
      : [...starterAccess, ...Object.values(controllers).flatMap(({ access }) => access)];
  return all.filter(({ component }) => needsPart(component, config) && isOfPair(component, pair));
}

/** Whether a part is granted to the account of this controller; null: to that of all. */
function isOfPair(part: string, pair: PairName | null): boolean {
  const controller = controllerOfPart(part);
  return pair === null || controller === null || controller === pair;
}

/** The rule, or one for each definition that its setting names. */
function eachOf(rule: AccessRule, config: Config): readonly AccessRule[] {
  if (rule.each === undefined) return [rule];
  return definitionsNamed(rule.each, config).map((definition) => ruleFor(rule, definition));
}

/** What one rule allows, one question for each. */
function deedsOf(rule: AccessRule, namespace: string | undefined): readonly V1ResourceAttributes[] {
  const { apiGroups, resources, resourceNames = [undefined], verbs } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [resource = path, subresource] = path.split('/');
      return verbs.flatMap((verb) =>
        resourceNames.map((name) => ({
          group,
          resource,
          verb,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        })),
      );
    }),
  );
}

export async function lookAtRights(context: DoctorContext, findings: Findings): Promise<void> {
  const { config, accounts } = context;
  const { systemNamespace, deliveryNamespaces } = config.kubernetes;
  const boundIn = deliveryNamespaces.only ?? [undefined];
  for (const account of accounts) {
    const { process, pair, user } = account;
    const deeds = needed(account, config).flatMap(
      ({ everywhere = [], inSystemNamespace = [], inKubeSystem = [], whereBound = [] }) => [
        // What somebody has named is named first.
        ...everywhere
          .toSorted((a, b) => Number(b.each !== undefined) - Number(a.each !== undefined))
          .flatMap((rule) => eachOf(rule, config))
          .flatMap((rule) => deedsOf(rule, undefined)),
        ...inSystemNamespace.flatMap((rule) => deedsOf(rule, systemNamespace)),
        ...inKubeSystem.flatMap((rule) => deedsOf(rule, 'kube-system')),
        ...boundIn.flatMap((namespace) => whereBound.flatMap((rule) => deedsOf(rule, namespace))),
      ],
    );
    try {
      const allowed = await inParallel(AT_ONCE, deeds, async (deed) => await isAllowed(context, user, deed));
      const missing = deeds.filter((_, at) => allowed[at] !== true);
      if (missing.length === 0) {
        findings.ok(`${user} has the ${deeds.length} rights that the ${process} needs for what is on.`);
        continue;
      }
      const more = missing.length > NAMED ? `, and ${missing.length - NAMED} more` : '';
      findings.wrong(
        `${user} lacks rights that the ${process} needs: ${missing.slice(0, NAMED).map(words).join('; ')}${more}.`,
        'Apply the chart with these settings in its values, which renders the roles for them, and see that their bindings name this account.',
      );
    } catch (error) {
      if (!(error instanceof ApiException) || error.code !== 403) throw error;
      findings.unknown(
        `You may not ask what ${user} may do (create subjectaccessreviews of authorization.k8s.io).`,
        `Ask as an administrator, or in its pod: kubectl -n ${systemNamespace} exec deployment/${processName(process, pair)} -- headroom doctor`,
      );
    }
  }
}

/** Asked of oneself without any right; of somebody else with that to ask. */
async function isAllowed(
  { kubeConfig, self }: DoctorContext,
  user: string,
  resourceAttributes: V1ResourceAttributes,
): Promise<boolean> {
  const api = kubeConfig.makeApiClient(AuthorizationV1Api);
  const answer =
    user === self
      ? await api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } })
      : await api.createSubjectAccessReview({ body: { spec: { user, groups: groupsOf(user), resourceAttributes } } });
  return answer.status?.allowed === true;
}

/** Of a service account, as the API server adds them. */
function groupsOf(user: string): string[] {
  const account = serviceAccountOf(user);
  return [
    'system:authenticated',
    ...(account === null ? [] : ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]),
  ];
}

function words({ verb, group, resource, subresource, namespace, name }: V1ResourceAttributes): string {
  const what = `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
