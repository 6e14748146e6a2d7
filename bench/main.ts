/**
 * `npm run bench`: every part in a process of its own, one after the other, in one table with minimum, median and maximum: what a request, a
 * watch and a workflow take on this machine (the floors), quota usage beside Kubernetes' own controller with one starter and
 * with two, pull requests from the refusal on, worker and starter at rest, and the overview page. It takes about half an hour on a machine that does nothing else, and ends with 1 where a
 * figure is above its limit or a part fails. `--parts floors,rest` runs some of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BenchRow, exceeded, rowsText } from './resize-load/rows.ts';

interface Part {
  /** From this folder. */
  readonly script: string;
  readonly args: readonly string[];
  /** Null for a part that prints text of its own, without limits. */
  readonly rows: ((output: unknown) => readonly BenchRow[]) | null;
}

/** The limits of a run of `usage-load`, as its own report has them. */
interface UsageReport {
  readonly limits: readonly {
    readonly what: string;
    readonly unit: string;
    readonly measured: number;
    readonly most: number;
  }[];
}

const asRows = (output: unknown): readonly BenchRow[] => output as readonly BenchRow[];
const usageRows =
  (starters: string) =>
  (output: unknown): readonly BenchRow[] =>
    (output as UsageReport).limits.map(({ what, unit, measured, most }) => ({
      name: `usage, ${starters}: ${what}`,
      unit,
      values: [measured],
      limit: most,
    }));

const PARTS: Readonly<Record<string, Part>> = {
  floors: { script: 'floors/main.ts', args: [], rows: asRows },
  usage: { script: 'usage-load/main.ts', args: ['--rates', '10,50'], rows: usageRows('one starter') },
  'usage-2': {
    script: 'usage-load/main.ts',
    args: ['--rates', '10,50', '--starters', '2'],
    rows: usageRows('two starters'),
  },
  resize: { script: 'resize-load/main.ts', args: [], rows: asRows },
  rest: { script: 'rest/main.ts', args: [], rows: asRows },
  'rest-2': { script: 'rest/main.ts', args: ['--quotas', '1500', '--starters', '2'], rows: asRows },
  sources: { script: 'large-checkouts.ts', args: [], rows: asRows },
  overview: { script: 'overview.ts', args: [], rows: asRows },
  pure: { script: 'pure.ts', args: [], rows: null },
};

function readParts(): readonly string[] {
  const { values } = parseArgs({ options: { parts: { type: 'string', default: Object.keys(PARTS).join(',') } } });
  const parts = values.parts.split(',');
  const unknown = parts.find((part) => PARTS[part] === undefined);
  if (unknown === undefined) return parts;
  throw new Error(`--parts ${unknown}: expected some of ${Object.keys(PARTS).join(',')}`);
}

/** The rows of a part; null where it failed, which its own output on standard error explains. */
async function run(name: string): Promise<readonly BenchRow[] | null> {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`no part ${name}`);
  console.error(`\n${name}`);
  const script = fileURLToPath(new URL(part.script, import.meta.url));
  const output = part.rows === null ? [] : ['--output', 'json'];
  const child = spawn(process.execPath, [script, ...part.args, ...output], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [written, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (part.rows === null) {
    process.stdout.write(written);
    return code === 0 ? [] : null;
  }
  try {
    return part.rows(JSON.parse(written));
  } catch {
    console.error(`${name} ended with ${String(code)} and without a report`);
    return null;
  }
}

try {
  const rows: BenchRow[] = [];
  const failed: string[] = [];
  for (const name of readParts()) {
    const measured = await run(name);
    if (measured === null) failed.push(name);
    else rows.push(...measured);
  }
  const above = exceeded(rows);
  console.log(rowsText(rows));
  for (const { name } of above) console.log(`ABOVE ITS LIMIT: ${name}`);
  for (const name of failed) console.log(`FAILED: ${name}`);
  if (above.length > 0 || failed.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
