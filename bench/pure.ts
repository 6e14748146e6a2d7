/**
 * `npm run bench:pure`: how long the pure parts take, as minimum, median and maximum over several rounds of one run, and how long
 * `headroom sources` and `headroom plan --all` take on large checkouts. Machines differ and are noisy: compare figures of one
 * run, never a figure with a limit.
 */
import { formatQuantity, parseQuantity } from '../domain/kernel/quantity.ts';
import { parseAdmissionMessage } from '../domain/quota-resize/demand/event-message.ts';
import { editLocation } from '../domain/quota-resize/git/locate/location/edit-location.ts';
import { locateQuota } from '../domain/quota-resize/git/locate/search/locate-quota.ts';
import { decideOpenAt, NOW } from '../test/domain/quota-resize/model/observations.ts';
import { benchCheckouts } from './checkouts.ts';

const ROUNDS = 9;

interface Bench {
  readonly name: string;
  /** How many of the named things one round does. */
  readonly count: number;
  readonly round: () => void;
}

const texts = ['100m', '1.5Gi', '2', '12E', '307200Ki', '0.05Gi', '1e3', '53687091200m'];
const message =
  'Error creating: pods "web-595868f4c8-dsjh9" is forbidden: exceeded quota: compute, requested: limits.cpu=1,requests.cpu=500m, used: limits.cpu=4,requests.cpu=2, limited: limits.cpu=4,requests.cpu=2';
const files = Array.from({ length: 1_500 }, (_, n): readonly [string, string] => [
  `managed-resources/prod/team-${n}/quota.yaml`,
  `# Team ${n}\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-${n}\nspec:\n  hard:\n    requests.cpu: "${n + 1}" # cores\n    requests.memory: 16Gi\n    pods: 20\n`,
]);
const tree = { paths: files.map(([path]) => path).toSorted(), texts: new Map(files) };

const benches: readonly Bench[] = [
  {
    name: 'quantities read and printed',
    count: 80_000,
    round: () => {
      for (let n = 0; n < 10_000; n += 1) for (const text of texts) formatQuantity(parseQuantity(text));
    },
  },
  {
    name: 'admission messages read',
    count: 10_000,
    round: () => {
      for (let n = 0; n < 10_000; n += 1) parseAdmissionMessage(message);
    },
  },
  {
    name: 'decisions on an open pull request',
    count: 10_000,
    round: () => {
      for (let n = 0; n < 10_000; n += 1) decideOpenAt(NOW);
    },
  },
  {
    name: 'quotas placed among 1,500 files and edited',
    count: 3,
    round: () => {
      for (const namespace of ['team-0', 'team-749', 'team-1499']) {
        const wanted = { namespace, name: 'compute', cluster: 'prod', resources: ['requests.cpu'] };
        const path = `managed-resources/prod/${namespace}`;
        const answer = locateQuota(tree, wanted, { from: 'template', path, learntFrom: 'the path template' });
        if (answer.kind !== 'located') throw new Error(`${namespace}/compute is not placed`);
        editLocation(tree, answer.location, { 'requests.cpu': '2000' });
      }
    },
  },
];

for (const { name, count, round } of benches) {
  round();
  const perThing = Array.from({ length: ROUNDS }, () => {
    const before = process.hrtime.bigint();
    round();
    return Number(process.hrtime.bigint() - before) / 1_000 / count;
  }).toSorted((a, b) => a - b);
  const [min, median, max] = [perThing[0], perThing[(ROUNDS - 1) / 2], perThing.at(-1)].map((us) =>
    us?.toFixed(1).padStart(9),
  );
  process.stdout.write(`${name.padEnd(44)} ${min} ${median} ${max} µs each (min, median, max)\n`);
}
process.stdout.write(`resident memory ${Math.round(process.memoryUsage().rss / 1024 / 1024)} MB\n`);
await benchCheckouts();
