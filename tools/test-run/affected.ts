import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { affectedFiles, GRAPH_FOLDERS } from './affected-files.ts';
import { coreFiles } from './core.ts';
import { importGraph } from './import-graph.ts';

/**
 * `npm run affected [-- BASE]` names and runs the integration tests outside of the core that may be broken by what changed since
 * the commit BASE, what is not committed included. Without BASE that is where this branch left the one it follows. `--list` only
 * names them. To be run by npm, whose PATH has vitest.
 */
async function git(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}

async function baseOf(name: string | undefined): Promise<string> {
  if (name === undefined) {
    return await git('merge-base', 'HEAD', '@{upstream}').catch(() => {
      throw new Error('this branch follows no other: name the commit to compare with, as in npm run affected -- main');
    });
  }
  return await git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`).catch(() => {
    throw new Error(`"${name}" is no commit of this checkout: expected a branch, a tag or a hash`);
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
  const tests = spawn('vitest', ['run', '--project=integration', ...files], { stdio: 'inherit' });
  // Ctrl-C reaches vitest too, which ends what it has started.
  process.on('SIGINT', () => {});
  const [code] = await once(tests, 'close');
  return typeof code === 'number' ? code : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
