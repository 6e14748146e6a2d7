import { spawn } from 'node:child_process';
import packageJson from '../../package.json' with { type: 'json' };

/**
 * `npm run check` runs the checks side by side, says of each how long it took, and prints only what the failed ones found. Each is
 * an npm script for whoever wants it alone. To be run by npm, whose PATH has the tools.
 */

/** The scripts, the longest first. */
const CHECKS = ['lint', 'types', 'unused', 'format:check'] as const;

type Check = (typeof CHECKS)[number];

interface Result {
  readonly check: Check;
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

async function run(check: Check): Promise<Result> {
  const began = performance.now();
  return await new Promise((resolve, reject) => {
    const child = spawn(packageJson.scripts[check], { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ check, passed: code === 0, output, seconds: (performance.now() - began) / 1000 });
    });
  });
}

const results = await Promise.all(CHECKS.map(run));
const failed = results.filter(({ passed }) => !passed);
for (const { check, output } of failed) console.log(`npm run ${check}\n\n${output.trim()}\n`);
const summary = results.map(
  ({ check, passed, seconds }) => `${check} ${passed ? 'passed' : 'FAILED'} (${seconds.toFixed(1)} s)`,
);
console.log(summary.join(', '));
process.exitCode = Math.min(failed.length, 1);
