import { cp, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { targetOf } from '../faults/pressed-namespaces.ts';
import type { Stack } from '../kernel/stack/stack.ts';

/**
 * Copies what explains a failed run to a folder that stays: the logs of all processes, the audit log, what the forge was
 * asked to write, the repository, and the history of every workflow.
 *
 * @returns the folder.
 */
export async function keepLogs(
  { gitDir, controlPlane, temporal, forge, client, processes }: Stack,
  { seed, namespaces }: { readonly seed: number; readonly namespaces: readonly string[] },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `headroom-chaos-${seed}-`));
  const copies = [
    ...processes.map(({ logFile }) => logFile),
    ...(await logsIn(controlPlane.dir)),
    temporal.logFile,
    gitDir,
  ].map(async (path) => await cp(path, join(folder, path.split('/').at(-1) ?? path), { recursive: true }));
  const writes = forge.writes.map((write) => JSON.stringify(write)).join('\n');
  const histories = namespaces.map(async (namespace) => {
    const history = await client.workflow.getHandle(quotaResizeId(targetOf(namespace))).fetchHistory();
    await writeFile(join(folder, `history-${namespace}.json`), JSON.stringify(history, null, 1));
  });
  // A part that cannot be copied, such as the history of a workflow that never ran, does not stop the others.
  await Promise.allSettled([...copies, ...histories, writeFile(join(folder, 'forge-writes.jsonl'), writes)]);
  return folder;
}

async function logsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /\.(?:log|jsonl)$/.test(name)).map((name) => join(folder, name));
}
