/** The lint rules that keep the layers apart, tried on sources that break them. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What may not be, by the file that does it, and what the rule says. */
const forbidden: Readonly<Record<string, readonly [source: string, says: string]>> = {
  'domain/imports-an-activity.ts': [from('../activities/kubernetes/kubernetes.ts'), 'domain is pure'],
  'domain/quota-resize/imports-a-workflow.ts': [from('../../workflows/index.ts'), 'domain is pure'],
  'domain/imports-temporal.ts': [from('@temporalio/workflow'), 'domain is pure'],
  'domain/imports-kubernetes.ts': [from('@kubernetes/client-node'), 'domain is pure'],
  'domain/reads-files.ts': [from('node:fs/promises'), 'domain is pure'],
  'domain/computes-a-hash.ts': [from('node:crypto'), 'domain is pure'],
  'domain/reads-the-clock.ts': ['export const now = Date.now();', 'time is an argument'],
  'domain/throws-dice.ts': ['export const dice = Math.random();', 'no chance in the domain'],
  'domain/reads-the-environment.ts': ['export const env = process.env;', 'process'],
  'activities/imports-a-workflow.ts': [from('../workflows/index.ts'), 'activities import the domain'],
  'activities/imports-the-worker.ts': [from('../worker/registry.ts'), 'activities import the domain'],
  'activities/imports-the-starter.ts': [from('../starter/main.ts'), 'activities import the domain'],
  'workflows/imports-an-activity.ts': [from('../activities/quota-resize/interface.ts'), 'as types only'],
  'workflows/imports-the-worker.ts': [from('../worker/registry.ts'), 'workflows are deterministic'],
  'workflows/imports-a-client.ts': [from('@temporalio/client'), 'workflows are deterministic'],
  'workflows/reads-files.ts': [from('node:fs'), 'workflows are deterministic'],
  'workflows/sleeps.ts': [from('node:timers/promises'), 'workflows are deterministic'],
  'worker/imports-the-starter.ts': [from('../starter/main.ts'), 'the worker does not know the starter'],
  'worker/imports-a-test.ts': [from('../test/kernel/stack/stack.ts'), 'the worker does not know the starter'],
  'platform/imports-a-controller.ts': [
    from('../domain/quota-resize/decide/decide.ts'),
    'the platform knows no controller',
  ],
  'platform/imports-an-activity.ts': [
    from('../activities/kubernetes/kubernetes.ts'),
    'the platform knows no controller',
  ],
  'platform/imports-the-worker.ts': [from('../worker/registry.ts'), 'the platform knows no controller'],
  'domain/imports-the-platform.ts': [from('../platform/log/log.ts'), 'domain is pure'],
  'activities/imports-the-platform.ts': [from('../platform/log/log.ts'), 'activities import the domain'],
  'starter/imports-the-worker.ts': [from('../worker/registry.ts'), 'the starter does not know the worker'],
  'domain/lights-out/imports-another-controller.ts': [from('../quota-resize/decide/decide.ts'), 'only where'],
  'domain/quota-usage/imports-its-user.ts': [from('../quota-resize/decide/decide.ts'), 'only where'],
  'domain/quota-resize/decide/imports-another-controller.ts': [from('../../lights-out/settings.ts'), 'only where'],
  'domain/quota-resize/decide/imports-an-outer-layer.ts': [from('../../../worker/registry.ts'), 'domain is pure'],
  'domain/kernel/imports-a-controller.ts': [from('../lights-out/settings.ts'), 'knows none of them'],
  'activities/forge/github/imports-a-controller.ts': [
    from('../../../domain/quota-resize/settings.ts'),
    'knows none of them',
  ],
  'activities/kubernetes/imports-a-controller.ts': [from('../quota-resize/lease.ts'), 'knows none of them'],
  'activities/lease-gc/imports-activities-of-another.ts': [from('../quota-resize/lease.ts'), 'only where'],
  'activities/quota-resize/imports-activities-of-another.ts': [from('../quota-usage/audit.ts'), 'only where'],
  'activities/lights-out/imports-a-type-of-another.ts': [
    "import type { thing } from '../../domain/quota-usage/mode.ts';\nexport type Thing = typeof thing;\n",
    'only where',
  ],
  'workflows/quota-resize/imports-another-controller.ts': [from('../quota-usage/messages.ts'), 'only where'],
  'workflows/kernel/imports-a-controller.ts': [from('../lights-out/messages.ts'), 'knows none of them'],
  'worker/lease-gc/imports-another-controller.ts': [from('../quota-usage/controller.ts'), 'only where'],
  'starter/lights-out/imports-another-controller.ts': [from('../quota-usage/cache.ts'), 'only where'],
  'starter/cli/lights-out/imports-another-controller.ts': [
    from('../../../domain/quota-resize/settings.ts'),
    'only where',
  ],
  'starter/cli/quota-resize/imports-another-controller.ts': [from('../lights-out/list.ts'), 'only where'],
  'starter/cli/quota-usage/imports-commands-of-another.ts': [from('../quota-resize/plan.ts'), 'only where'],
  'starter/admission/imports-a-controller.ts': [from('../lights-out/admission.ts'), 'knows none of them'],
  'starter/imports-a-test.ts': [from('../test/kernel/stack/stack.ts'), 'the product does not import its tests'],
};

/** What may be, in the direction of the layers. */
const allowed: Readonly<Record<string, string>> = {
  'domain/imports-the-domain.ts': from('./kernel/quantity.ts'),
  'activities/imports-the-domain.ts': from('../domain/kernel/quantity.ts'),
  'workflows/imports-the-domain.ts': from('../domain/kernel/quantity.ts'),
  'workflows/imports-an-activity-as-a-type.ts':
    "import type { thing } from '../activities/quota-resize/interface.ts';\nexport type Thing = typeof thing;\n",
  'worker/imports-workflows-and-activities.ts': `${from('../workflows/index.ts')}${from('../activities/kubernetes/kubernetes.ts', 'other')}`,
  'platform/imports-the-kernel.ts': from('../domain/kernel/target.ts'),
  'domain/quota-resize/demand/imports-the-arithmetic-of-usage.ts': from('../../quota-usage/calculate.ts'),
  'domain/lease-gc/imports-the-leases.ts': from('../quota-resize/model/lease.ts'),
  'activities/quota-resize/imports-the-arithmetic-of-usage.ts': from('../../domain/quota-usage/mode.ts'),
  'activities/quota-resize/imports-its-own.ts': `${from('../../domain/quota-resize/model/lease.ts')}${from('./lease.ts', 'other')}`,
  'activities/lease-gc/imports-the-leases.ts': from('../../domain/quota-resize/model/lease.ts'),
  'activities/forge/imports-the-budget.ts': from('../../domain/github-budget/write-priority.ts'),
  'workflows/quota-resize/imports-the-count-as-a-type.ts':
    "import type { thing } from '../../activities/quota-usage/interface.ts';\nexport type Thing = typeof thing;\n",
  'worker/imports-controllers.ts': from('./quota-usage/controller.ts'),
  'starter/cli/quota-resize/explain/imports-the-count.ts': `${from('../../quota-usage/count.ts')}${from('../../../../domain/quota-usage/mode.ts', 'other')}`,
  'starter/cli/quota-usage/imports-what-was-refused.ts': from('../../../activities/quota-resize/refusals.ts'),
  'starter/imports-the-platform.ts': from('../platform/log/log.ts'),
};

function from(module: string, name = 'thing'): string {
  return `import { ${name} } from '${module}';\nexport const use${name} = ${name};\n`;
}

let folder: string;
let findings: readonly { readonly filename: string; readonly message: string; readonly help?: string }[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-lint-'));
  for (const file of ['oxlint.config.ts', 'domain/kernel/controllers.ts']) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await cp(join(ROOT, file), join(folder, file));
  }
  const sources = {
    ...Object.fromEntries(Object.entries(forbidden).map(([file, [source]]) => [file, source])),
    ...allowed,
  };
  for (const [file, source] of Object.entries(sources)) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), source);
  }
  const report = await new Promise<string>((resolve, reject) => {
    execFile(join(ROOT, 'node_modules/.bin/oxlint'), ['--format=json'], { cwd: folder }, (error, stdout) => {
      // 1 is what it ends with when it has found something.
      if (error !== null && error.code !== 1) reject(error);
      else resolve(stdout);
    });
  });
  findings = (JSON.parse(report) as { diagnostics: typeof findings }).diagnostics;
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

function of(file: string): string {
  return findings
    .filter(({ filename }) => filename === file)
    .map(({ message, help = '' }) => `${message} ${help}`)
    .join('\n');
}

describe('the lint', () => {
  it.each(Object.entries(forbidden))('refuses %s', (file, [, says]) => {
    expect(of(file)).toContain(says);
  });

  it.each(Object.keys(allowed))('accepts %s', (file) => {
    expect(of(file)).toBe('');
  });
});
