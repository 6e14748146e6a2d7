/**
 * The CustomResourceDefinition of LightsOutSchedules, generated from the type in schedule.ts, with the validation rules
 * that CEL can express.
 */
import { type Rule, type Schema, structuralSchemas } from '../../kernel/structural-schema.ts';
import { GROUP, KIND, PLURAL, UNCONFIRMED_SELECTOR, VERSION } from './names.ts';
import { LONGEST_GRACE, LONGEST_PREWARM, LONGEST_WAIT, NO_NAMESPACES, WINDOW_COUNT } from './problems.ts';
import { scheduleSpec, scheduleStatus } from './schedule.ts';

const HAS_ZONE = String.raw`self.matches(r'^\s*(?i:CRON_)?(?i:TZ)=')`;
const IS_MACRO = String.raw`self.matches(r'^\s*@')`;

/**
 * A rough pattern of five fields: the exact check, and whether it ever runs, is left to the controller and its webhook.
 */
const CRON_RULES: readonly Rule[] = [
  {
    rule: `!${HAS_ZONE}`,
    message: 'expected a cron pattern without a time zone: take CRON_TZ= or TZ= out and set spec.timezone',
  },
  {
    rule: `!${IS_MACRO}`,
    message: 'expected five fields such as "0 6 * * 1-5" in place of a macro',
  },
  {
    rule: String.raw`${HAS_ZONE} || ${IS_MACRO} || self.matches(r'^\s*\S+(\s+\S+){4}\s*$')`,
    message: 'expected five fields: minute, hour, day of the month, month, day of the week, such as "0 6 * * 1-5"',
  },
];

const REQUIREMENT_RULES: readonly Rule[] = [
  {
    rule: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
    message: 'expected at least one value with In and NotIn, and none with Exists and DoesNotExist',
  },
];

const YEAR = 'int(self.substring(0, 4))';

const DAY_RULES: readonly Rule[] = [
  {
    rule: "!self.matches('(02-3[01]|(04|06|09|11)-31)$')",
    message: 'expected a day that the month has',
  },
  {
    rule: `!self.matches('^[0-9]{4}-02-29$') || ${YEAR} % 4 == 0 && (${YEAR} % 100 != 0 || ${YEAR} % 400 == 0)`,
    message: 'expected a day that the month has: that year has no 29 February',
  },
];

const EXCEPTION_RULES: readonly Rule[] = [
  {
    rule: '!has(self.to) || size(self.to) == size(self.from)',
    message: 'expected from and to in the same form: both with a year (2026-12-24), or both without (12-24)',
  },
  {
    // Without a year, 12-24 to 01-02 spans the turn of the year.
    rule: '!has(self.to) || size(self.to) != size(self.from) || size(self.from) == 5 || self.to >= self.from',
    message: 'expected a last day that is not before the first one',
  },
];

const WINDOW_RULES: readonly Rule[] = [{ rule: 'has(self.replicas) != has(self.percent)', message: WINDOW_COUNT }];

/** More than eight digits may exceed CEL's durations, which would be an evaluation error instead of a rejection. */
function upTo(longest: string): readonly Rule[] {
  return [
    {
      rule: `!self.matches('[0-9]{8}') && duration(self) <= duration('${longest}')`,
      message: `expected at most ${longest}`,
    },
  ];
}

/** CEL estimates costs from these bounds; they are far above any real value. */
const DURATION_BOUNDS = { maxLength: 32 };
const DAY_BOUNDS = { maxLength: 10 };

function durationOf(longest: string): Schema {
  return { ...DURATION_BOUNDS, 'x-kubernetes-validations': upTo(longest) };
}

/** Whether a spec in CEL has a selector that selects every namespace. */
function selectsAll(spec: string): string {
  const selector = `${spec}.namespaceSelector`;
  const isWithout = (part: string) => `(!has(${selector}.${part}) || size(${selector}.${part}) == 0)`;
  return `has(${selector}) && ${isWithout('matchLabels')} && ${isWithout('matchExpressions')}`;
}

const SPEC_RULES: readonly (Rule & { readonly optionalOldSelf?: boolean })[] = [
  {
    rule: 'has(self.namespaceSelector) || has(self.namespaces) && size(self.namespaces) > 0',
    message: NO_NAMESPACES,
  },
  {
    // One that is stored already goes on, and can still be changed.
    rule: `!(${selectsAll('self')}) || has(self.allNamespaces) && self.allNamespaces || oldSelf.hasValue() && ${selectsAll('oldSelf.value()')}`,
    optionalOldSelf: true,
    message: UNCONFIRMED_SELECTOR,
  },
];

/** Additions for Kubernetes, by path. */
const ADDITIONS: Readonly<Record<string, Schema>> = {
  spec: { description: 'What is to happen, and when.', 'x-kubernetes-validations': SPEC_RULES },
  'spec.upscale': { 'x-kubernetes-validations': CRON_RULES },
  'spec.downscale': { 'x-kubernetes-validations': CRON_RULES },
  'spec.windows[]': { 'x-kubernetes-validations': WINDOW_RULES },
  'spec.windows[].upscale': { 'x-kubernetes-validations': CRON_RULES },
  'spec.windows[].downscale': { 'x-kubernetes-validations': CRON_RULES },
  ...selectorAdditions('spec.namespaceSelector'),
  ...selectorAdditions('spec.excludeLabels'),
  ...selectorAdditions('spec.priorities[].selector'),
  'spec.upscaleRateLimit.delayBetweenBatches': durationOf(LONGEST_WAIT),
  'spec.downscaleRateLimit.delayBetweenBatches': durationOf(LONGEST_WAIT),
  'spec.readinessTimeout': durationOf(LONGEST_WAIT),
  'spec.newWorkloadGrace': durationOf(LONGEST_GRACE),
  'spec.prewarm': durationOf(LONGEST_PREWARM),
  'spec.exceptions[]': { 'x-kubernetes-validations': EXCEPTION_RULES },
  'spec.exceptions[].from': { ...DAY_BOUNDS, 'x-kubernetes-validations': DAY_RULES },
  'spec.exceptions[].to': { ...DAY_BOUNDS, 'x-kubernetes-validations': DAY_RULES },
  status: { description: 'What was last seen and done.' },
  'status.conditions': { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
  ...momentsOf([
    'status.lastUpscaleTime',
    'status.lastDownscaleTime',
    'status.nextUpscaleTime',
    'status.nextDownscaleTime',
    'status.conditions[].lastTransitionTime',
    'status.overrides[].since',
    'status.overrides[].until',
    'status.approved.at',
  ]),
};

/** A merge treats a selector as one value, as in Kubernetes' own types. */
function selectorAdditions(path: string): Readonly<Record<string, Schema>> {
  return {
    [path]: { 'x-kubernetes-map-type': 'atomic' },
    [`${path}.matchExpressions`]: { maxItems: 100, 'x-kubernetes-list-type': 'atomic' },
    [`${path}.matchExpressions[]`]: { 'x-kubernetes-validations': REQUIREMENT_RULES },
    [`${path}.matchExpressions[].values`]: { 'x-kubernetes-list-type': 'atomic' },
  };
}

function momentsOf(paths: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(paths.map((path) => [path, { format: 'date-time' }]));
}

/**
 * The columns of `kubectl get`; those of the first implementation keep their names. Priority 1: only with `-o wide`.
 */
const COLUMNS: readonly (readonly [name: string, path: string, type: string, priority: 0 | 1])[] = [
  ['State', '.status.state', 'string', 0],
  ['Upscale', '.spec.upscale', 'string', 0],
  ['Downscale', '.spec.downscale', 'string', 0],
  ['Timezone', '.spec.timezone', 'string', 1],
  ['Suspended', '.spec.suspend', 'boolean', 0],
  ['Ready', '.status.conditions[?(@.type=="Ready")].status', 'string', 0],
  // As strings: kubectl shows a date as its age, but these are in the future.
  ['Next up', '.status.nextUpscaleTime', 'string', 1],
  ['Next down', '.status.nextDownscaleTime', 'string', 1],
  ['Saved', '.status.savedReplicaHours', 'string', 0],
  ['Age', '.metadata.creationTimestamp', 'date', 0],
];

/** The object in `deploy/chart-crds/definitions/lights-out.yaml`: apiextensions.k8s.io/v1. */
export function lightsOutDefinition() {
  const { spec, status } = structuralSchemas('a schedule', { spec: scheduleSpec, status: scheduleStatus }, ADDITIONS);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${PLURAL}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'headroom' } },
    spec: {
      group: GROUP,
      names: {
        kind: KIND,
        listKind: `${KIND}List`,
        plural: PLURAL,
        singular: KIND.toLowerCase(),
        shortNames: ['los'],
      },
      scope: 'Cluster',
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS.map(([name, jsonPath, type, priority]) => ({
            name,
            type,
            jsonPath,
            ...(priority === 0 ? {} : { priority }),
          })),
          schema: {
            openAPIV3Schema: {
              description: 'When workloads sleep, which ones, and how they are woken.',
              type: 'object',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec,
                status,
              },
            },
          },
        },
      ],
    },
  };
}
