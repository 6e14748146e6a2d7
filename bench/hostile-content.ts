/**
 * `npm run bench:hostile`: what files that are made to be costly take to read, in CPU time, time and memory, and what
 * reading in a thread costs everybody else. `--megabytes 0.2` makes the files smaller.
 */
import { parseArgs } from 'node:util';
import { ContentReader } from '../activities/quota-resize/source/content/content-reader.ts';
import { answerTo, type TreeQuestion } from '../domain/quota-resize/git/locate/question/question.ts';
import type { TreeSnapshot } from '../domain/quota-resize/git/locate/location/location.ts';
import { hostileFiles } from '../test/layouts/hostile.ts';
import { layoutFiles } from '../test/layouts/tree.ts';

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1' } } });
const bytes = Number(values.megabytes) * 1_000_000;
const HONEST_ROUNDS = 200;

function located(namespace: string): TreeQuestion<'locate'> {
  const wanted = { namespace, name: 'compute', cluster: 'prod', resources: ['pods'] };
  return { kind: 'locate', wanted, candidate: { from: 'scan', learntFrom: 'a search' } };
}

function treeOf(files: Readonly<Record<string, string>>): TreeSnapshot {
  return { paths: Object.keys(files).toSorted(), texts: new Map(Object.entries(files)) };
}

const quota =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: 2\n';
console.log(`a lookup in a folder with one file of ${values.megabytes} MB`);
for (const [name, text] of Object.entries(hostileFiles(bytes))) {
  const reader = new ContentReader();
  const { cpuMs } = reader.options;
  const file = text.startsWith('resources:') ? 'b/kustomization.yaml' : 'b/quota.yaml';
  const tree = treeOf({
    'a/quota.yaml': quota,
    'b/quota.yaml': quota.replaceAll('team-a', 'team-b'),
    [file]: text,
  });
  const before = { at: performance.now(), cpu: process.cpuUsage() };
  const outcome = await reader.ask(tree, located('team-a'), { cpuMs, isForEachFile: false });
  const took = performance.now() - before.at;
  const cpu = process.cpuUsage(before.cpu);
  const result =
    outcome.kind === 'answer' ? outcome.answer.kind : `${outcome.path} ${reader.reasonOf(outcome).message}`;
  console.log(
    `  ${name.padEnd(28)} ${seconds((cpu.user + cpu.system) / 1000)} CPU  ${seconds(took)}  ${(process.memoryUsage().rss / 1e6).toFixed(0).padStart(4)} MB  ${result}`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}

const honest = treeOf(layoutFiles('kustomize'));
const reader = new ContentReader();
const rounds: Readonly<Record<string, () => unknown>> = {
  'in the same thread': () => answerTo({ ...honest, texts: new Map(honest.texts) }, located('strategic')),
  'in a thread of its own': () =>
    reader.ask({ ...honest, texts: new Map(honest.texts) }, located('strategic'), {
      cpuMs: 5_000,
      isForEachFile: false,
    }),
};
console.log(`a lookup in ${honest.paths.length} files of an honest repository`);
for (const [name, round] of Object.entries(rounds)) {
  for (let n = 0; n < HONEST_ROUNDS; n += 1) await round();
  const before = { at: performance.now(), cpu: process.cpuUsage() };
  for (let n = 0; n < HONEST_ROUNDS; n += 1) await round();
  const took = (performance.now() - before.at) / HONEST_ROUNDS;
  const cpu = process.cpuUsage(before.cpu);
  console.log(
    `  ${name.padEnd(28)} ${((cpu.user + cpu.system) / 1000 / HONEST_ROUNDS).toFixed(2)} ms CPU  ${took.toFixed(2)} ms`,
  );
}
process.exit(0);
