/** Charts of one quota that hand their values through pipes of any kind, always the same for the same seed. */
import { seededRandom } from '../chaos/random.ts';
import type { Files } from './tree.ts';

/** The folder of the chart. */
export const PIPES_CHART = 'quota';

const PIPES: readonly ((value: string) => string)[] = [
  (value) => `{{ ${value} }}`,
  (value) => `{{ ${value} | quote }}`,
  (value) => `{{ ${value} | int64 }}`,
  (value) => `{{ int ${value} }}`,
  (value) => `"{{ ${value} | default 1 | int64 | toString }}"`,
  (value) => `{{ ${value} | float64 }}`,
  (value) => `{{ printf "%d" (int64 ${value}) }}`,
  (value) => `{{ ${value} | int | printf "%d" | quote }}`,
  (value) => `{{ required "it is missing" ${value} | int64 }}`,
  (value) => `{{ ${value} | toString | trim | quote }}`,
];

/** One of these, and nothing of the quota is edited. */
const COMPUTING: typeof PIPES = [
  (value) => `{{ ${value} | toString | int64 }}`,
  (value) => `{{ mul ${value} 1 }}`,
  (value) => `{{ add ${value} 0 | quote }}`,
  (value) => `{{ printf "%d" ${value} }}`,
  (value) => `{{ printf "%v" ${value} }}`,
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  'requests.cpu': ['3', '"3"', '2500m', '0.5', '12'],
  'requests.memory': ['1073741824', "'1073741824'", '1Gi', '512Mi', '1.5e9'],
  'requests.storage': ['107374182400', '100Gi', '"100G"'],
  'count/configmaps': ['1000000', '20', '"999999"'],
};

const TYPES = ['string', 'integer', 'number', ['string', 'number']];

/** A chart, of which one in three has a schema of its values. */
export function chartWithPipes(seed: number): Files {
  const random = seededRandom(seed);
  const pipes = random.between(0, 5) === 0 ? COMPUTING : PIPES;
  const limits = Object.entries(VALUES).map(([key, values], index) => ({
    key,
    name: `limit${index}`,
    value: random.pick(values),
    pipe: random.pick(pipes),
    type: random.pick(TYPES),
  }));
  const properties = Object.fromEntries(limits.map(({ name, type }) => [name, { type }]));
  const schema = { properties: { quota: { type: 'object', properties } } };
  return {
    [`${PIPES_CHART}/Chart.yaml`]: 'apiVersion: v2\nname: quota\nversion: 1.0.0\n',
    [`${PIPES_CHART}/values.yaml`]: `quota:\n${limits.map(({ name, value }) => `  ${name}: ${value} # agreed\n`).join('')}`,
    [`${PIPES_CHART}/templates/quota.yaml`]: [
      'apiVersion: v1',
      'kind: ResourceQuota',
      'metadata:',
      '  name: compute',
      '  namespace: team-a',
      'spec:',
      '  hard:',
      ...limits.map(({ key, name, pipe }) => `    ${key}: ${pipe(`.Values.quota.${name}`)}`),
      '',
    ].join('\n'),
    ...(random.between(0, 2) === 0 ? { [`${PIPES_CHART}/values.schema.json`]: JSON.stringify(schema) } : {}),
  };
}
