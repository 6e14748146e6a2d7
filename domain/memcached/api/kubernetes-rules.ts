/** What the API server has against the objects of a Memcached, because of parts that are passed on to it as they are. */
import { selectorProblems } from '../../kernel/label-selector.ts';
import { compareQuantities, isQuantity, parseQuantity } from '../../kernel/quantity.ts';
import type { WrittenSpec } from './memcached.ts';

type Constraint = NonNullable<NonNullable<WrittenSpec['highAvailability']>['topologySpreadConstraints']>[number];
type Peer = NonNullable<NonNullable<NonNullable<WrittenSpec['security']>['networkPolicy']>['allowedSources']>[number];
type Resources = NonNullable<WrittenSpec['resources']>;
type Budget = NonNullable<NonNullable<WrittenSpec['highAvailability']>['podDisruptionBudget']>;
interface Ids {
  readonly runAsUser?: number | undefined;
  readonly runAsGroup?: number | undefined;
}
type Selector = Parameters<typeof selectorProblems>[0];

interface KubernetesRule {
  /** The fields that it is about. */
  readonly about: (spec: WrittenSpec) => unknown;
  /** Sentences in the form of the API server's. */
  readonly problems: (spec: WrittenSpec) => readonly string[];
}

/** What is checked of one part of a spec, where there is one. */
function ruleOf<T>(
  about: (spec: WrittenSpec) => T | undefined,
  problems: (part: T) => readonly string[],
): KubernetesRule {
  return {
    about,
    problems: (spec) => {
      const part = about(spec);
      return part === undefined ? [] : problems(part);
    },
  };
}

const enabledOnly = <T extends { readonly enabled?: boolean | undefined }>(part: T | undefined): T | undefined =>
  part?.enabled === true ? part : undefined;
const exporterOf = ({ monitoring }: WrittenSpec) => enabledOnly(monitoring);

export const KUBERNETES_RULES: readonly KubernetesRule[] = [
  ruleOf(({ image }) => image, imageProblems('spec.image')),
  ruleOf(({ resources }) => resources, resourceProblems('spec.resources')),
  ruleOf((spec) => exporterOf(spec)?.exporterImage, imageProblems('spec.monitoring.exporterImage')),
  ruleOf((spec) => exporterOf(spec)?.exporterResources, resourceProblems('spec.monitoring.exporterResources')),
  ruleOf(
    ({ highAvailability }) => highAvailability?.topologySpreadConstraints,
    (constraints) => constraints.flatMap(constraintProblems),
  ),
  ruleOf(({ highAvailability }) => enabledOnly(highAvailability?.podDisruptionBudget), budgetProblems),
  ruleOf(({ security }) => security?.podSecurityContext, userProblems('podSecurityContext')),
  ruleOf(({ security }) => security?.containerSecurityContext, userProblems('containerSecurityContext')),
  ruleOf(
    ({ security }) => enabledOnly(security?.networkPolicy)?.allowedSources,
    (peers) => peers.flatMap(peerProblems),
  ),
  ruleOf(({ service }) => service?.annotations, annotationProblems),
];

function invalid(path: string, value: unknown, message: string): string {
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${message}`;
}

function imageProblems(path: string): (image: string) => readonly string[] {
  return (image) =>
    image !== '' && image === image.trim()
      ? []
      : [invalid(path, image, 'the name of an image, without spaces around it')];
}

/** What has no domain before it, such as cpu, may be promised to more than one. */
function isOvercommitted(resource: string): boolean {
  return !resource.includes('/') && !resource.startsWith('hugepages-');
}

type Amount = number | string | undefined;

function quantityIn(value: Amount) {
  return value !== undefined && isQuantity(String(value)) ? parseQuantity(String(value)) : undefined;
}

function resourceProblems(path: string): (resources: Resources) => readonly string[] {
  return ({ requests = {}, limits = {} }) => [
    ...negativeAmounts(`${path}.requests`, requests),
    ...negativeAmounts(`${path}.limits`, limits),
    ...Object.entries(requests).flatMap(([name, request]) =>
      requestProblem(`${path}.requests[${name}]`, name, request, limits[name]),
    ),
  ];
}

function negativeAmounts(path: string, amounts: Readonly<Record<string, Amount>>): readonly string[] {
  return Object.entries(amounts)
    .filter(([, value]) => (quantityIn(value)?.nano ?? 0n) < 0n)
    .map(([name, value]) => invalid(`${path}[${name}]`, value, 'must be greater than or equal to 0'));
}

function requestProblem(path: string, name: string, request: Amount, limit: Amount): readonly string[] {
  const [least, most] = [quantityIn(request), quantityIn(limit)];
  if (least === undefined) return [];
  if (most === undefined) {
    return isOvercommitted(name) ? [] : [invalid(path, request, `must be the limit of ${name}, which is not set`)];
  }
  const order = compareQuantities(least, most);
  if (order === 0 || (order < 0 && isOvercommitted(name))) return [];
  const relation = isOvercommitted(name) ? 'must be at most' : 'must be equal to';
  return [invalid(path, request, `${relation} the limit of ${name}, which is ${String(limit)}`)];
}

function selectorRefusals(path: string, selector: Selector): readonly string[] {
  return selectorProblems(selector, path).map(({ field, message }) => `${field}: Invalid value: ${message}`);
}

function constraintProblems(constraint: Constraint, at: number, all: readonly Constraint[]): readonly string[] {
  const { maxSkew, minDomains, topologyKey, whenUnsatisfiable, labelSelector } = constraint;
  const path = `spec.highAvailability.topologySpreadConstraints[${at}]`;
  const isKnown = ['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable);
  const isSecond =
    all.findIndex((each) => each.topologyKey === topologyKey && each.whenUnsatisfiable === whenUnsatisfiable) < at;
  return [
    ...(maxSkew > 0 ? [] : [invalid(`${path}.maxSkew`, maxSkew, 'must be greater than zero')]),
    ...(topologyKey === '' ? [`${path}.topologyKey: Required value: can not be empty`] : []),
    ...(isKnown
      ? []
      : [invalid(`${path}.whenUnsatisfiable`, whenUnsatisfiable, 'one of DoNotSchedule, ScheduleAnyway')]),
    ...(minDomains === undefined || minDomains > 0
      ? []
      : [invalid(`${path}.minDomains`, minDomains, 'must be greater than zero')]),
    ...(minDomains === undefined || whenUnsatisfiable === 'DoNotSchedule'
      ? []
      : [invalid(`${path}.minDomains`, minDomains, 'only with whenUnsatisfiable: DoNotSchedule')]),
    ...(isSecond ? [invalid(path, topologyKey, `there is one with ${whenUnsatisfiable} for this key already`)] : []),
    ...selectorRefusals(`${path}.labelSelector`, labelSelector),
  ];
}

function budgetProblems(budget: Budget): readonly string[] {
  return (['minAvailable', 'maxUnavailable'] as const).flatMap((field) => {
    const value = budget[field];
    const isRight =
      value === undefined || (typeof value === 'number' ? value >= 0 : /^0*(?:\d{1,2}|100)%$/.test(value));
    const path = `spec.highAvailability.podDisruptionBudget.${field}`;
    return isRight ? [] : [invalid(path, value, 'a number from 0 on, or a percentage from 0% to 100%')];
  });
}

function userProblems(field: 'podSecurityContext' | 'containerSecurityContext'): (ids: Ids) => readonly string[] {
  return (ids) =>
    (['runAsUser', 'runAsGroup'] as const).flatMap((name) => {
      const id = ids[name];
      const isRight = id === undefined || (id >= 0 && id <= 2_147_483_647);
      return isRight ? [] : [invalid(`spec.security.${field}.${name}`, id, 'a number from 0 to 2147483647')];
    });
}

function peerProblems({ ipBlock, podSelector, namespaceSelector }: Peer, at: number): readonly string[] {
  const path = `spec.security.networkPolicy.allowedSources[${at}]`;
  const selectors = [podSelector, namespaceSelector].filter((selector) => selector !== undefined);
  return [
    ...(ipBlock === undefined && selectors.length === 0 ? [`${path}: Required value: must specify a peer`] : []),
    ...(ipBlock !== undefined && selectors.length > 0 ? [`${path}: Forbidden: ipBlock beside a selector`] : []),
    ...[ipBlock?.cidr, ...(ipBlock?.except ?? [])]
      .filter((cidr) => cidr !== undefined && !/^[0-9a-fA-F:.]+\/\d{1,3}$/.test(cidr))
      .map((cidr) => invalid(`${path}.ipBlock`, cidr, 'an address with the length of its prefix, such as 10.0.0.0/8')),
    ...selectorRefusals(`${path}.podSelector`, podSelector),
    ...selectorRefusals(`${path}.namespaceSelector`, namespaceSelector),
  ];
}

const NAME = String.raw`[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`;
const PREFIX = String.raw`[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*`;
/** With a domain, a slash and a name. */
const LONGEST_KEY = 253 + 1 + 63;
const KEY = new RegExp(`^(?:${PREFIX}/)?${NAME}$`);

function annotationProblems(annotations: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(annotations)
    .filter((key) => key.length > LONGEST_KEY || !KEY.test(key.toLowerCase()))
    .map((key) =>
      invalid(
        'spec.service.annotations',
        key,
        'a name of at most 63 characters, with a domain and a slash before it or not',
      ),
    );
}
