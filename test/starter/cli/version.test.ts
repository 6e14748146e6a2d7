import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { runCommandLine } from '../../../starter/cli/command-line.ts';

it('says which release it is, without any configuration', async () => {
  const written = { stdout: '', stderr: '' };
  const code = await runCommandLine(['--version'], {
    env: {},
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    readStdin: () => '',
  });
  expect({ code, ...written }).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
});
