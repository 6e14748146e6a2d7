/** What people read of Memcacheds must be what the code has. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { memcachedSpec, memcachedStatus } from '../../domain/memcached/api/memcached.ts';
import { KIND } from '../../domain/memcached/api/names.ts';
import { readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { createCommandLine } from '../../starter/cli/command-line.ts';
import { settingEntries } from '../../starter/config.ts';
import { chartValue, entriesOf, pairsOf, read, sectionOf, unionMembers } from './reading.ts';

const page = read('docs/memcached.md');
const runbook = read('docs/operations/memcached.md');

/** `memcached.threads` and so on; what Kubernetes has a type for is one row. */
function fieldsOf(type: unknown, path = ''): readonly string[] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodDefault) return fieldsOf(type.unwrap(), path);
  // A loose object is a type of Kubernetes' own; of a reference, the name is written.
  if (!(type instanceof z.ZodObject)) return [path];
  if (type.def.catchall !== undefined) return [path.endsWith('SecretRef') ? `${path}.name` : path];
  return Object.entries(type.shape).flatMap(([name, part]) => fieldsOf(part, path === '' ? name : `${path}.${name}`));
}

describe('the operations page of Memcacheds', () => {
  it.each([
    ['### Phases', 'MemcachedPhase'],
    ['## What it means', 'MemcachedReason'],
  ])('has under "%s" each of the union once, and none that there is not', (heading, union) => {
    const existing = unionMembers('domain/memcached/decide/verdict.ts', union);
    expect(entriesOf(sectionOf(runbook, heading)).toSorted()).toEqual(existing.toSorted());
  });

  it('has every Event, with its type', () => {
    const [, type = '', reasons = ''] =
      /readonly type: '(\w+)'; readonly reason: ([^;]+);/.exec(read('domain/memcached/plan/events.ts')) ?? [];
    const existing = [...reasons.matchAll(/'(\w+)'/g)].map(([, reason]) => `${reason} ${type}`);
    expect(pairsOf(sectionOf(runbook, '### Events'))).toEqual(existing);
  });

  it('explains every command of the command line', () => {
    const stream = { write: () => true };
    const { program } = createCommandLine({ env: {}, stdout: stream, stderr: stream, readStdin: () => '' });
    const group = program.commands.find((command) => command.name() === 'memcached');
    const names = (group?.commands ?? []).map((command) => command.name()).filter((name) => name !== 'help');
    expect(entriesOf(sectionOf(runbook, '### Send a command')).toSorted()).toEqual(names.toSorted());
  });
});

describe('the page of Memcacheds', () => {
  it('has a row for each field, and none that there is not', () => {
    expect(entriesOf(sectionOf(page, '## Every field')).toSorted()).toEqual([...fieldsOf(memcachedSpec)].toSorted());
    expect(entriesOf(sectionOf(page, '## Status')).toSorted()).toEqual(Object.keys(memcachedStatus.shape).toSorted());
  });

  it('has every setting, and values that the chart has', () => {
    const settings = settingEntries.filter(({ group }) => group === 'memcached').map(({ setting }) => setting.env);
    expect(entriesOf(sectionOf(page, '## Settings')).toSorted()).toEqual(settings.toSorted());
    const values = entriesOf(sectionOf(page, '## Switch it on'));
    expect(values).toHaveLength(3);
    for (const value of values) expect(chartValue(value)).toHaveProperty('type');
  });

  it('makes the servers of a proxy from the list of servers', async () => {
    const [, script = ''] = /^```sh\n([^`]*?)^```/m.exec(page) ?? [];
    const list = '/etc/sessions/servers.txt';
    expect(script).toContain(list);
    const folder = mkdtempSync(join(tmpdir(), 'servers-'));
    try {
      const file = join(folder, 'servers.txt');
      writeFileSync(file, 'sessions-0 10.244.1.7:11211\nsessions-2 10.244.2.4:11211\n');
      const { stdout } = await promisify(execFile)('sh', ['-c', script.replace(list, file)]);
      expect(parse(stdout)).toEqual({
        sessions: {
          listen: '127.0.0.1:11211',
          hash: 'fnv1a_64',
          distribution: 'ketama',
          servers: ['10.244.1.7:11211:1 sessions-0', '10.244.2.4:11211:1 sessions-2'],
        },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has only Memcacheds in its examples that contradict nothing', () => {
    const blocks = [...page.matchAll(/^```yaml\n([^`]*?)^```/gm)].map(([, block = '']) => block);
    const examples = blocks.filter((block) => block.includes(`kind: ${KIND}\n`));
    expect(examples).toHaveLength(2);
    for (const example of examples) {
      expect(readMemcached(parseAllDocuments(example)[0]?.toJS()).problems).toEqual([]);
    }
  });
});
