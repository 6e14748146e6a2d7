/**
 * `npm run bench:overview`: how long the overview page of a large cluster takes, from the request to the last byte, with the
 * objects in memory as a starter's caches have them. The first request of a process reckons everything and runs code that is not
 * compiled yet; later ones reckon what has changed. `--quotas 5000`.
 */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { serveOverview } from '../starter/overview/server.ts';
import { manyQuotas, overviewOf } from '../test/starter/overview/quotas.ts';
import { reportFormat, runProgram } from './program.ts';
import { type BenchRow, exceeded, rowsText } from './resize-load/rows.ts';
import { wholeNumber } from './whole-number.ts';

const LIMIT_MS = 200;
const ROUNDS = 20;

await runProgram(async () => {
  const { values } = parseArgs({
    options: { output: { type: 'string', default: 'table' }, quotas: { type: 'string', default: '5000' } },
  });
  const format = reportFormat(values.output);
  const { quotas, leases } = manyQuotas(wholeNumber('quotas', values.quotas, 1));
  // As an informer does with what has changed: another object.
  const live = [...quotas];
  const server = await serveOverview({
    address: { host: '127.0.0.1', port: 0 },
    cluster: 'bench',
    overviews: [overviewOf(live, leases)],
    workflows: { refresh: async () => {}, waiting: () => [], trouble: null },
    workflowUrl: (id) => `https://temporal.example.com/${encodeURIComponent(id)}`,
    troubles: () => [],
    log: pino({ level: 'silent' }),
  });
  const change = (share: number): void => {
    for (let index = 0; index < live.length * share; index++) live[index] = Object.assign({}, live[index]);
  };
  // The start of whoever asks is none of the page's.
  await (await fetch(`${server.url}/favicon.ico`)).text();
  const cases = {
    'the first request': [await request(server.url)],
    'of which each has changed': await several(server.url, () => change(1)),
    'of which a tenth has changed': await several(server.url, () => change(0.1)),
    'of which none has changed': await several(server.url, () => {}),
    'one namespace, and a tenth has changed': await several(`${server.url}/?namespace=team-7`, () => change(0.1)),
  };
  await server.close();
  const rows: readonly BenchRow[] = Object.entries(cases).flatMap(([name, times]) => [
    // CPU time of all threads, of whoever asks too: what other processes take from the machine does not count.
    {
      name: `overview of ${values.quotas} quotas, ${name}`,
      unit: 'CPU ms',
      values: times.map(({ cpuMs }) => cpuMs),
      limit: LIMIT_MS,
    },
    {
      name: `overview of ${values.quotas} quotas, ${name}`,
      unit: 'ms',
      values: times.map(({ ms }) => ms),
      limit: null,
    },
  ]);
  console.log(format === 'json' ? JSON.stringify(rows, null, 2) : rowsText(rows));
  return exceeded(rows).length === 0;
});

interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

async function several(url: string, before: () => void): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    measured.push(await request(url));
  }
  return measured;
}

/** What it takes until the page is there. */
async function request(url: string): Promise<Measured> {
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  const response = await fetch(url);
  const page = await response.text();
  const { user, system } = process.cpuUsage(cpuBefore);
  const ms = performance.now() - started;
  if (response.status !== 200 || !page.endsWith('</html>\n')) throw new Error(`${url} answered ${response.status}`);
  return { ms, cpuMs: (user + system) / 1000 };
}
