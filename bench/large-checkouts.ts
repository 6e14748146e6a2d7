/**
 * `npm run bench:sources`: `headroom sources` and `headroom plan --all` on repositories of the size and the form of two public ones, and
 * on such repositories of twice the size: the CPU time, what is not placed, and whether it grows with the size and not faster.
 */
import { parseArgs } from 'node:util';
import { OVERLAY_NAMESPACES, overlayRepository, plainRepository } from '../test/layouts/large-repositories.ts';
import type { Files } from '../test/layouts/tree.ts';
import { inCheckout } from './checkout-command.ts';
import { log, reportFormat, runProgram } from './program.ts';
import { type BenchRow, exceeded, rowsText } from './resize-load/rows.ts';

const ROUNDS = 3;
const COMMANDS: readonly (readonly string[])[] = [['sources'], ['plan', '--all', '--increment', '20%']];

interface Repository {
  readonly name: string;
  /** 1 is its own size. */
  readonly files: (size: number) => Files;
  /** The size that is compared with twice as much: large enough that the start of the program does not hide how the time grows. */
  readonly grownFrom: number;
}

const REPOSITORIES: readonly Repository[] = [
  { name: 'plain manifests', files: plainRepository, grownFrom: 1 },
  {
    name: 'an overlay of namespaces',
    files: (size) => overlayRepository(Math.round(OVERLAY_NAMESPACES * size)),
    grownFrom: 5,
  },
];

interface Measured {
  readonly seconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly unplaced: number;
}

async function measured(files: Files): Promise<ReadonlyMap<string, Measured>> {
  return await inCheckout(files, (run) => {
    const listed = JSON.parse(run('sources', '--output', 'json').stdout) as { readonly unplaced: readonly unknown[] };
    return new Map(
      COMMANDS.map((command) => {
        const rounds = Array.from({ length: ROUNDS }, () => run(...command));
        const failed = rounds.find(({ status }) => status !== 0);
        if (failed !== undefined) {
          throw new Error(`headroom ${command.join(' ')} ends with ${failed.status}: ${failed.stderr.slice(0, 500)}`);
        }
        return [
          command[0] ?? '',
          {
            seconds: rounds.map(({ seconds }) => seconds),
            cpuSeconds: rounds.map(({ cpuSeconds }) => cpuSeconds),
            unplaced: listed.unplaced.length,
          },
        ];
      }),
    );
  });
}

async function rowsOf({ name, files, grownFrom }: Repository): Promise<readonly BenchRow[]> {
  log(name);
  const own = await measured(files(1));
  const once = grownFrom === 1 ? own : await measured(files(grownFrom));
  const twice = await measured(files(2 * grownFrom));
  return [
    ...[...own].flatMap(([command, { seconds, cpuSeconds }]) => [
      // CPU time of all threads: what other processes take from the machine does not count.
      { name: `${command}, ${name}`, unit: 'CPU s', values: cpuSeconds, limit: 3 },
      { name: `${command}, ${name}`, unit: 's', values: seconds, limit: null },
    ]),
    ...[...twice].map(([command, { cpuSeconds }]) => ({
      name: `${command}, ${name}: CPU time at twice the size`,
      unit: 'times',
      values: [Math.min(...cpuSeconds) / Math.min(...(once.get(command)?.cpuSeconds ?? []))],
      limit: 2.2,
    })),
    {
      name: `${name}: not placed`,
      unit: 'quotas',
      values: [own, once, twice].map((sizes) => sizes.get('sources')?.unplaced ?? 0),
      limit: 0,
    },
  ];
}

await runProgram(async () => {
  const { values } = parseArgs({ options: { output: { type: 'string', default: 'table' } } });
  const format = reportFormat(values.output);
  const rows: BenchRow[] = [];
  for (const repository of REPOSITORIES) rows.push(...(await rowsOf(repository)));
  console.log(format === 'json' ? JSON.stringify(rows, null, 2) : rowsText(rows));
  return exceeded(rows).length === 0;
});
