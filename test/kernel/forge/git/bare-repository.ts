import { mkdir } from 'node:fs/promises';
import { git } from './command.ts';

/**
 * Makes a bare repository with one commit on its default branch. Fast also for tens of thousands of files.
 * @param files contents by path from the root of the repository
 * @param options.links symbolic links: what each one points to, by path
 */
export async function createBareRepository(
  gitDir: string,
  files: Readonly<Record<string, string>>,
  {
    branch = 'main',
    message = 'Initial commit',
    links = {},
  }: { branch?: string; message?: string; links?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  await mkdir(gitDir, { recursive: true });
  await git(gitDir, ['init', '--quiet', '--bare', `--initial-branch=${branch}`, gitDir]);
  if (Object.keys(files).length + Object.keys(links).length === 0) return;
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const seconds = Math.floor(Date.now() / 1000);
  const lines = [
    `commit refs/heads/${branch}\ncommitter GitOps <gitops@example.com> ${seconds} +0000\n${data(message)}`,
  ];
  for (const [path, content] of Object.entries(files)) {
    lines.push(`M 100644 inline ${JSON.stringify(path)}\n${data(content)}`);
  }
  for (const [path, to] of Object.entries(links)) {
    lines.push(`M 120000 inline ${JSON.stringify(path)}\n${data(to)}`);
  }
  await git(gitDir, ['fast-import', '--quiet', '--done'], { input: `${lines.join('')}done\n` });
}
