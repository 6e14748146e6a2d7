import { affectedFiles, GRAPH_FOLDERS } from './affected-files.ts';
import { coreFiles } from './core.ts';
import { git } from './git.ts';
import { importGraph } from './import-graph.ts';
import { passSignalsOn, run, signalExitCode } from './running-command.ts';

/**
 * `npm run affected [-- BASE]` names and runs the integration tests outside of the core that may be broken by what changed on this
 * branch since it left BASE, a branch or a commit, what is not committed included. Without BASE that is the branch that it follows. `--list` only
 * names them. To be run by npm, whose PATH has vitest.
 */
async function baseOf(name: string | undefined): Promise<string> {
  // What the other branch got meanwhile is not a part of this change.
  return await git('merge-base', 'HEAD', name ?? '@{upstream}').catch(() => {
    throw new Error(
      name === undefined
        ? 'this branch follows no other: name the commit to compare with, as in npm run affected -- main'
        : `"${name}" is no commit that this branch began at: expected a branch, a tag or a hash`,
    );
  });
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const names = args.filter((arg) => arg !== '--list');
  if (names.length > 1) throw new Error(`expected one commit, got ${names.join(' ')}`);
  const base = await baseOf(names[0]);
  const [changed, added, graph] = await Promise.all([
    git('diff', '--name-only', '--no-renames', base),
    git('ls-files', '--others', '--exclude-standard'),
    importGraph('.', GRAPH_FOLDERS),
  ]);
  const paths = `${changed}\n${added}`.split('\n').filter(Boolean);
  const { files, because } = affectedFiles(paths, graph, coreFiles);
  console.log(`${files.length} integration tests outside of the core: ${because} (since ${base.slice(0, 9)})`);
  for (const file of files) console.log(`  ${file}`);
  if (files.length === 0 || args.includes('--list')) return 0;
  passSignalsOn();
  const code = await run('vitest', ['run', '--project=integration', ...files]);
  return signalExitCode() ?? code ?? 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
