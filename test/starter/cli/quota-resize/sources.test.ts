/** `headroom sources` and `headroom plan` on real checkouts, with what they print given to git itself. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { editLocation } from '../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import { unifiedDiff } from '../../../../domain/quota-resize/git/yaml/unified-diff.ts';
import { answered, readCheckout } from '../../../../starter/cli/quota-resize/checkout.ts';
import { generateCheckout, shapeNames } from '../../../layouts/generate.ts';
import { type Files, layoutFiles } from '../../../layouts/tree.ts';
import { headroom } from '../../run-program.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
  }
});

function git(root: string, args: readonly string[], input = ''): string {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: root,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function folderWith(files: Files): string {
  const root = mkdtempSync(join(tmpdir(), 'headroom-checkout-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function checkoutWith(files: Files): string {
  const root = folderWith(files);
  git(root, ['init', '--quiet']);
  git(root, ['add', '--all']);
  git(root, ['commit', '--quiet', '--message', 'all']);
  return root;
}

/** Lines that a diff takes away and adds. */
function counts(diff: string): { readonly removed: number; readonly added: number } {
  const lines = diff.split('\n').filter((line) => !/^(?:---|\+\+\+) /.test(line));
  return {
    removed: lines.filter((line) => line.startsWith('-')).length,
    added: lines.filter((line) => line.startsWith('+')).length,
  };
}

describe('a generated checkout with every layout', () => {
  const { files, quotas } = generateCheckout(20261121, { quotas: 5 * shapeNames.length, others: 40 });

  it('has every quota found, with its limits', async () => {
    const checkout = readCheckout(checkoutWith(files));
    const scan = await answered(checkout, { kind: 'scan', options: {} });
    expect(scan.unlocated).toEqual([]);
    for (const { namespace, name, limits } of quotas) {
      const found = scan.quotas.filter((quota) => quota.namespace === namespace && quota.name === name);
      expect(
        found.map(({ values }) => Object.fromEntries(Object.entries(values).map(([key, { text }]) => [key, text]))),
      ).toEqual([limits]);
    }
  });

  it('takes the diff of each quota with git, with one line for each raised value', async () => {
    const root = checkoutWith(files);
    const checkout = readCheckout(root);
    const scan = await answered(checkout, { kind: 'scan', options: {} });
    for (const { namespace, shape, patched } of quotas) {
      const location = scan.quotas.find((quota) => quota.namespace === namespace && quota.name === 'compute');
      for (const limits of [{ pods: '1000' }, { 'requests.cpu': '64', pods: '1000' }]) {
        const result = location === undefined ? undefined : editLocation(checkout, location, limits);
        expect(result, `${shape} ${namespace}`).toMatchObject({ kind: 'edited' });
        const diff = result?.kind === 'edited' ? unifiedDiff(result.edits) : '';
        git(root, ['apply', '--check', '--whitespace=nowarn', '-'], diff);
        if (!patched) {
          const raised = Object.keys(limits).length;
          expect(counts(diff), `${shape} ${namespace}`).toEqual({ removed: raised, added: raised });
        }
      }
    }
  });

  it('raised as a whole reads back with the new values, from a diff that git applies', async () => {
    const root = checkoutWith(files);
    const planned = await headroom(['plan', '--repo', root, '--all', '--increment', '20%']);
    expect({ code: planned.code, stderr: planned.stderr }).toEqual({ code: 0, stderr: '' });
    git(root, ['apply', '--whitespace=nowarn', '-'], planned.stdout);
    const applied = await answered(readCheckout(root), { kind: 'scan', options: {} });
    expect(applied.unlocated).toEqual([]);
    const raises: Readonly<Record<string, string>> = {
      '1': '1200m',
      '2': '2400m',
      '4': '4800m',
      '8': '9600m',
      '2500m': '3000m',
    };
    for (const { namespace, shape, limits } of quotas) {
      const location = applied.quotas.find((quota) => quota.namespace === namespace && quota.name === 'compute');
      expect(location?.values['requests.cpu']?.text, `${shape} ${namespace}`).toBe(
        raises[limits['requests.cpu'] ?? ''],
      );
      expect(location?.values['pods']?.text, `${shape} ${namespace}`).toBe(
        `${Math.ceil((Number(limits['pods']) * 12) / 10)}`,
      );
    }
    git(root, ['checkout', '--quiet', '.']);
    git(root, ['clean', '--quiet', '--force', '-d']);
    const written = await headroom(['plan', '--repo', root, '--all', '--increment', '20%', '--write']);
    expect(written.stdout).toBe(planned.stdout);
    git(root, ['apply', '--reverse', '--whitespace=nowarn', '-'], planned.stdout);
    expect(git(root, ['status', '--porcelain'])).toBe('');
  });
});

describe.concurrent('headroom sources', () => {
  it('reads files as large as the worker does', async () => {
    const filler = '# filler\n'.repeat(100_000);
    const quota = 'kind: ResourceQuota\napiVersion: v1\nmetadata: {name: a, namespace: b}\nspec: {hard: {pods: 2}}\n';
    const root = folderWith({ 'quota.yaml': `${quota}${filler}` });
    const args = ['sources', '--repo', root];
    expect((await headroom(args)).stdout).toMatch(/b\/a|b +a/);
    writeFileSync(join(root, 'quota.yaml'), `${quota}${filler}${filler}`);
    expect((await headroom(args)).stdout).toContain('more than the 1 MB that are read of a file');
  });

  it('prints what it found as JSON, with no cluster and no configuration', async () => {
    const root = folderWith(layoutFiles('helm'));
    const { code, stdout, stderr } = await headroom(['sources', '--repo', root, '--output', 'json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { quotas, unplaced } = JSON.parse(stdout) as { quotas: object[]; unplaced: object[] };
    expect(quotas).toContainEqual({
      namespace: 'helm-one',
      name: 'compute',
      file: 'charts/one/templates/quota.yaml',
      line: 4,
      layout: 'helm',
      values: {
        'requests.cpu': { value: '2', file: 'charts/one/values.yaml', line: 3 },
        pods: { value: '10', file: 'charts/one/values.yaml', line: 4 },
      },
      how: 'found in `charts/one/templates/quota.yaml:4` with the values of `charts/one/values.yaml` by a search of the whole repository',
    });
    expect(unplaced).toMatchObject([
      {
        namespace: 'helm-computed',
        name: 'compute',
        file: 'charts/computed/templates/quota.yaml',
        reason: 'Unplaceable',
      },
    ]);
  });

  it('prints a table, and what is not placed below it', async () => {
    const { stdout } = await headroom([
      'sources',
      '--repo',
      folderWith(layoutFiles('plain')),
      '--output',
      'table',
      '--cluster',
      'prod',
      '--template',
      'namespaces/{{ .Cluster }}/{{ .Namespace }}',
    ]);
    expect(stdout).toMatch(/^QUOTA +RESOURCE +VALUE +PLACE +LAYOUT\n/);
    expect(stdout).toMatch(/^team-c\/compute +pods +7 +namespaces\/prod\/team-c\/quota\.yaml:7 +manifest$/m);
    expect(stdout).toMatch(/^2 not placed:$/m);
  });

  it('does not look at what git ignores, at links, and at what is no text', async () => {
    const manifest = layoutFiles('plain')['namespaces/prod/team-g/a.yaml'] ?? '';
    const root = folderWith({
      'a.yaml': manifest,
      'ignored/a.yaml': manifest,
      '.gitignore': 'ignored/\n',
      'binary.yaml': `${manifest}\0`,
    });
    symlinkSync(join(root, 'a.yaml'), join(root, 'linked.yaml'));
    git(root, ['init', '--quiet']);
    const { stdout } = await headroom(['sources', '--repo', root, '--output', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ quotas: [{ file: 'a.yaml' }], unplaced: [] });
  });

  it.each<[string[], string]>([
    [['sources'], "required option '--repo <folder>' not specified"],
    [['sources', '--repo', '/nowhere'], 'the folder /nowhere cannot be read'],
    [['sources', '--repo', '/etc/hostname'], '/etc/hostname is not a folder'],
    [['sources', '--repo', '.', '--template', '{{ .Team }}'], 'has {{ .Team }}, which is unknown'],
    [['plan', '--repo', '.'], '--namespace, --quota, --set missing'],
    [['plan', '--repo', '.', '--all'], '--all needs --increment'],
    [['plan', '--repo', '.', '--all', '--increment', '0'], 'raises nothing'],
    [['plan', '--repo', '.', '--all', '--increment', '20%', '--quota', 'q'], '--all is for every quota'],
    [
      ['plan', '--repo', '.', '--namespace', 'n', '--quota', 'q', '--set', 'pods'],
      '"pods" is not <resource>=<quantity>',
    ],
    [['plan', '--repo', '.', '--namespace', 'n', '--quota', 'q', '--set', 'pods=many'], '"many" is not a quantity'],
    [['plan', '--repo', '.', '--namespace', 'n', '--quota', 'q', '--set', 'pods=1.5'], '"1.5" is not a whole number'],
  ])('called with %j says what is wrong, and ends with 2', async (args, message) => {
    const { code, stdout, stderr } = await headroom(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });
});

describe.concurrent('headroom plan', () => {
  const planArguments = (root: string, namespace: string, ...sets: readonly string[]) => [
    'plan',
    '--repo',
    root,
    '--namespace',
    namespace,
    '--quota',
    'compute',
    ...sets.flatMap((set) => ['--set', set]),
  ];

  it('writes exactly what was asked, and only when told to, keeping the mode of the file', async () => {
    const root = checkoutWith(layoutFiles('plain'));
    const file = join(root, 'namespaces/prod/team-e/quota.json');
    chmodSync(file, 0o640);
    const before = readFileSync(file, 'utf8');
    const { code, stdout } = await headroom(planArguments(root, 'team-e', 'requests.cpu=2500m', 'pods=11'));
    expect(code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(stdout).toContain(
      '-      "requests.cpu": "2",\n-      "pods": 10\n+      "requests.cpu": "2500m",\n+      "pods": 11\n',
    );
    expect(
      (await headroom([...planArguments(root, 'team-e', 'requests.cpu=2500m', 'pods=11'), '--write'])).stdout,
    ).toBe(stdout);
    expect(readFileSync(file, 'utf8')).toBe(before.replace('"2"', '"2500m"').replace('10', '11'));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(git(root, ['status', '--porcelain'])).toBe(' M namespaces/prod/team-e/quota.json\n');
  });

  it.each<[string, string, RegExp]>([
    ['team-e', 'pods=9', /pods=9 is below 10, which Git says/],
    ['team-e', 'secrets=9', /sets no secrets in Git/],
    ['team-g', 'pods=9', /is in 2 places/],
    ['nobody', 'pods=9', /nobody\/compute is not in this checkout: there is team-.*\n.*broken\.yaml:4: not YAML/],
    ['odd', 'pods=9', /odd\/compute: odd\.yaml:8: the value of pods is not a quantity .*begins with 0/],
  ])('of %s with %s is rejected with the reason, and ends with 1', async (namespace, set, message) => {
    const odd = (layoutFiles('plain')['namespaces/prod/team-c/quota.yaml'] ?? '')
      .replace(/name: compute\n/, 'name: compute\n  namespace: odd\n')
      .replace(/pods: .*/, 'pods: 010');
    const files = { ...layoutFiles('plain'), 'odd.yaml': odd };
    const { code, stdout, stderr } = await headroom(planArguments(folderWith(files), namespace, set));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('of a folder below the top of a checkout is a diff that git applies from anywhere in it', async () => {
    const root = checkoutWith({ 'gitops/q.yaml': layoutFiles('plain')['namespaces/prod/team-g/a.yaml'] ?? '' });
    const { stdout } = await headroom(planArguments(join(root, 'gitops'), 'team-g', 'pods=77'));
    for (const folder of [root, join(root, 'gitops')]) {
      git(folder, ['apply', '-'], stdout);
      expect(readFileSync(join(root, 'gitops/q.yaml'), 'utf8')).toContain('pods: 77');
      git(root, ['checkout', '--quiet', '.']);
    }
  });

  it('prints nothing where Git holds the value already', async () => {
    const outcome = await headroom(planArguments(folderWith(layoutFiles('plain')), 'team-e', 'requests.cpu=2000m'));
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('takes the namespace that was asked for as the name of a folder', async () => {
    const { code, stdout } = await headroom(planArguments(folderWith(layoutFiles('plain')), 'team-c', 'pods=8'));
    expect(code).toBe(0);
    expect(counts(stdout)).toEqual({ removed: 1, added: 1 });
  });

  it('of all prints what can be planned, says what cannot, and ends with 1', async () => {
    const root = checkoutWith(layoutFiles('kustomize'));
    const { code, stdout, stderr } = await headroom(['plan', '--repo', root, '--all', '--increment', '50%']);
    expect(code).toBe(1);
    git(root, ['apply', '--check', '-'], stdout);
    expect(stdout).not.toContain('a/base/');
    expect(stdout).not.toContain('a/components/');
    expect(stderr).toMatch(/^base\/quota\.yaml:4: opaque\/compute: .*replacements/m);
  });
});
