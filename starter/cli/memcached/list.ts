/** `headroom memcached list`: every Memcached of the cluster, with what its status says. */
import { isRecord } from '../../../domain/kernel/record.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { isAutoscaled } from '../../../domain/memcached/api/memcached.ts';
import type { ReadMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { listedServers } from '../../../domain/memcached/servers/server-list.ts';
import { memcachedName } from '../../../domain/memcached/target.ts';
import { columns } from '../columns.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { coloured, type Terminal } from '../terminal.ts';
import { readObjects } from './objects.ts';

/** The documented form of `headroom memcached list --output json`. */
interface MemcachedRow {
  readonly memcached: string;
  /** `3`, or `2-10` where an autoscaler decides; null for an invalid one. */
  readonly replicas: string | null;
  readonly ready: number;
  /** The condition Ready; null before the first pass. */
  readonly isReady: boolean | null;
  /** The messages of conditions that say that something is wrong. */
  readonly degraded: string | null;
  readonly serverList: readonly string[];
  /** By their slots' names. */
  readonly servers: ReturnType<typeof listedServers>;
  /** What is as it is on purpose, what waits, and what cannot work. */
  readonly notes: readonly string[];
}

/** @throws {CommandFailed} where the cluster cannot be read. */
export async function listMemcacheds(loaded: LoadedConfig, { output, shared }: CommandTools): Promise<void> {
  const rows = (await readObjects(loaded)).map(rowOf);
  if (shared().output === 'json') output.json(rows);
  else output.text(listText(loaded.config.kubernetes.clusterName, rows, output.terminal));
}

export function rowOf(memcached: ReadMemcached): MemcachedRow {
  const { spec, status } = memcached;
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isRecord) : [];
  const conditionOf = (type: string) => conditions.find((condition) => condition['type'] === type);
  const ready = conditionOf('Ready');
  const degraded = conditionOf('Degraded');
  const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
  return {
    memcached: memcachedName(memcached),
    replicas: spec === null ? null : replicasText(spec),
    ready: typeof status['readyReplicas'] === 'number' ? status['readyReplicas'] : 0,
    isReady: ready === undefined ? null : ready['status'] === 'True',
    degraded: degraded?.['status'] === 'True' ? String(degraded['message']) : null,
    serverList: texts(status['serverList']),
    servers: listedServers(memcached),
    notes: texts(status['notes']),
  };
}

function replicasText(spec: NonNullable<ReadMemcached['spec']>): string {
  if (!isAutoscaled(spec)) return String(spec.replicas ?? 1);
  return `${spec.autoscaling?.minReplicas ?? 1}-${spec.autoscaling?.maxReplicas}`;
}

export function listText(cluster: string, rows: readonly MemcachedRow[], terminal: Terminal): string {
  if (rows.length === 0) return `${cluster} has no Memcached.\n`;
  const [heading = '', ...lines] = columns(
    [
      [
        { text: 'MEMCACHED' },
        { text: 'REPLICAS', right: true },
        { text: 'READY', right: true },
        { text: 'SERVERS' },
        { text: 'DEGRADED' },
      ],
      ...rows.map(({ memcached, replicas, ready, degraded, serverList }) => [
        { text: memcached },
        { text: replicas ?? '-', right: true },
        { text: String(ready), right: true },
        { text: serverList.join(', ') || '-' },
        { text: degraded ?? '-' },
      ]),
    ],
    0,
  );
  const body = lines.map((line, at) => coloured(line, rows[at]?.degraded == null ? undefined : 'red', terminal));
  const notes = rows.flatMap((row) => row.notes.map((note) => `${row.memcached}: ${sentence(note)}`));
  const table = [coloured(heading, 'bold', terminal), ...body];
  return `${[...table, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')}\n`;
}
