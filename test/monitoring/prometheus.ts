/** Prometheus itself, which scrapes processes as the operator of Prometheus would have it do. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { resolvePackage } from '../../tools/resolver/debian-package.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import { untilReady } from '../kernel/servers/readiness.ts';
import { startProcess } from '../kernel/servers/supervised-process.ts';
import { stringify } from 'yaml';

interface ScrapeTarget {
  /** `host:port`. */
  readonly address: string;
  readonly pod: string;
  readonly container: string;
}

export interface PrometheusOptions {
  readonly dir: string;
  readonly targets: readonly ScrapeTarget[];
  /** What the PodMonitor says of it. */
  readonly honorLabels: boolean;
  /** Of the pods. */
  readonly namespace: string;
  /** Groups of rules. */
  readonly groups: readonly object[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus {
  /** What a query says now. @throws Error with Prometheus' words for one that it does not take. */
  query(expr: string): Promise<readonly Sample[]>;
  /** The health of each rule by its name, after its first evaluation. */
  ruleHealth(): Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

const vector = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.enum(['vector', 'scalar']),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});
const rules = z.object({
  data: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })),
  }),
});

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { dir, targets, honorLabels, namespace, groups } = options;
  const folder = join(dir, 'prometheus');
  await mkdir(folder, { recursive: true });
  const configuration = {
    // A story takes a minute: each second is one of the samples that a rate needs two of.
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [
      {
        job_name: `${namespace}/headroom`,
        honor_labels: honorLabels,
        // The labels that the operator of Prometheus gives to the target of a PodMonitor.
        static_configs: targets.map(({ address, pod, container }) => ({
          targets: [address],
          labels: { namespace, pod, container, endpoint: 'metrics' },
        })),
      },
    ],
  };
  await writeFile(join(folder, 'prometheus.yaml'), stringify(configuration));
  await writeFile(join(folder, 'rules.yaml'), stringify({ groups }));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const server = await startProcess({
    name: 'prometheus',
    command: await resolvePackage('prometheus'),
    args: [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    cwd: folder,
    env: {},
    logFile: join(folder, 'prometheus.log'),
  });
  const ask = async (path: string): Promise<unknown> =>
    // A kept connection may be closed in the moment in which it is used again.
    await (await fetch(`${url}${path}`, { headers: { connection: 'close' } })).json();
  try {
    await untilReady(server, async () => (await fetch(`${url}/-/ready`)).ok);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    query: async (expr) => {
      const answer = await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`);
      const read = vector.safeParse(answer);
      if (!read.success) throw new Error(`${expr}: ${JSON.stringify(answer)}`);
      return read.data.data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
    },
    ruleHealth: async () => {
      const { data } = rules.parse(await ask('/api/v1/rules'));
      return Object.fromEntries(data.groups.flatMap((group) => group.rules.map(({ name, health }) => [name, health])));
    },
    stop: async () => void (await server.stop()),
  };
}
