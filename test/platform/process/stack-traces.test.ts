import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mapOwnSourcesOnly, MINIFY } from '../../../tools/programs/plugins.ts';

const run = promisify(execFile);
const module = fileURLToPath(new URL('../../../platform/process/stack-traces.ts', import.meta.url));

/** The third line throws, after a character that is written as an escape in the bundle. */
const SOURCE = `import { mapStackTraces } from ${JSON.stringify(module)};
mapStackTraces();
const thrower = (what: string) => { throw new TypeError('→' + what); };
try { thrower('stopped'); } catch (error) { console.log(error.stack); }
import { fail } from 'packaged';
try { fail('there'); } catch (error) { console.log(error.stack); }
`;
/** A package, whose lines no map has. */
const PACKAGED = `export function fail(what) {\n  throw new RangeError(what);\n}\n`;

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-stacks-'));
  program = join(folder, 'program.js');
  await writeFile(join(folder, 'thrower.ts'), SOURCE);
  const packaged = join(folder, 'node_modules/packaged');
  await mkdir(packaged, { recursive: true });
  await writeFile(join(packaged, 'package.json'), '{ "type": "module", "main": "index.js" }\n');
  await writeFile(join(packaged, 'index.js'), PACKAGED);
  const build = await rolldown({ input: join(folder, 'thrower.ts'), platform: 'node', plugins: [mapOwnSourcesOnly] });
  await build.write({ file: program, format: 'esm', sourcemap: true, minify: MINIFY });
  await build.close();
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('the stack of an error names the lines of the sources, and what was thrown as ever', async () => {
  const { stdout } = await run(process.execPath, [program]);
  const [heading, thrower, caller] = stdout.split('\n');
  expect(heading).toBe('TypeError: →stopped');
  expect(thrower).toMatch(new RegExp(`^    at thrower \\(thrower\\.ts:3:\\d+\\)$`));
  expect(caller).toMatch(new RegExp(`^    at thrower\\.ts:4:\\d+$`));
});

it('a place in a package is that of the bundle, and the caller is that of the sources', async () => {
  const { stdout } = await run(process.execPath, [program]);
  const lines = stdout.split('\n');
  const heading = lines.indexOf('RangeError: there');
  expect(lines[heading + 1]).toMatch(/^    at fail \(file:\/\/\/.*\/program\.js:\d+:\d+\)$/);
  expect(lines[heading + 2]).toMatch(new RegExp(`^    at thrower\\.ts:6:\\d+$`));
});

it('without a source map it names the lines of what runs', async () => {
  await rm(`${program}.map`);
  const { stdout } = await run(process.execPath, [program]);
  expect(stdout).toMatch(/^TypeError: →stopped\n {4}at thrower \(file:\/\/\/.*\/program\.js:\d+:\d+\)\n/);
});
