/** The files for the public host: what they name is there. */
import { globSync, readdirSync, statSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { read, ROOT, sectionOf } from './reading.ts';

interface PackageRule {
  readonly matchManagers: readonly string[];
  readonly matchPackageNames: readonly string[];
  readonly groupName: string;
  readonly matchFileNames?: readonly string[];
}

describe('the configuration of the update bot', () => {
  const { packageRules } = JSON.parse(read('renovate.json')) as { readonly packageRules: readonly PackageRule[] };
  const npm = JSON.parse(read('package.json')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;
  const modules = globSync('tools/*/go.mod', { cwd: ROOT }).map((file) => ({ file, text: read(file) }));

  it('names only packages and modules that there are', () => {
    const packages = Object.keys({ ...npm.dependencies, ...npm.devDependencies });
    const required = modules.flatMap(({ text }) => [...text.matchAll(/^\t(\S+) v\d/gm)].map(([, name = '']) => name));
    const unknown = packageRules.flatMap(({ matchManagers, matchPackageNames }) => {
      const existing = matchManagers.includes('gomod') ? required : packages;
      return matchPackageNames.filter((pattern) => !existing.some((name) => matchesGlob(name, pattern)));
    });
    expect(unknown).toEqual([]);
  });

  it('keeps every server current that has a module below tools/', () => {
    const rules = packageRules.filter(({ matchManagers }) => matchManagers.includes('gomod'));
    const forgotten = modules.filter(({ file, text }) => {
      const tools = [...text.matchAll(/^(?:tool |\t)([a-z][\w.]+\/\S+)$/gm)].map(([, name = '']) => name);
      const isKept = (tool: string): boolean =>
        rules.some(
          ({ matchPackageNames, matchFileNames = [] }) =>
            matchFileNames.some((pattern) => matchesGlob(file, pattern)) &&
            matchPackageNames.some((name) => tool.startsWith(name) || matchesGlob(tool, name)),
        );
      return tools.length === 0 || !tools.every(isKept);
    });
    expect(forgotten.map(({ file }) => file)).toEqual([]);
  });
});

it('the table of libraries has every package that the programs carry, and says of what one file uses that it does', () => {
  const { dependencies } = JSON.parse(read('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const rows = new Map(
    [...sectionOf(read('docs/architecture.md'), '## Libraries').matchAll(/^\| `([^`]+)` +\| (.+?) +\|$/gm)].map(
      ([, name = '', why = '']) => [name, why] as const,
    ),
  );
  expect([...rows.keys()].toSorted()).toEqual(Object.keys(dependencies).toSorted());
  const product = globSync('{activities,domain,platform,starter,worker,workflows}/**/*.ts', { cwd: ROOT }).map((file) =>
    read(file),
  );
  for (const [name, why] of rows) {
    const users = product.filter((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
    // A package of the SDK has its reason in the SDK.
    const isAlone = users.length <= 1 && !name.startsWith('@temporalio/');
    expect([name, users.length > 0, why.includes('used in one file')]).toEqual([name, true, isAlone]);
  }
});

describe('the workflow of the public host', () => {
  const text = read('.github/workflows/ci.yaml');
  const { jobs, permissions } = parse(text) as {
    readonly jobs: { readonly test: { readonly steps: readonly { readonly run?: string }[] } };
    readonly permissions: object;
  };

  it('runs what every other place runs, and nothing else, with no more than a look at the code', () => {
    expect(jobs.test.steps.flatMap(({ run }) => run ?? [])).toEqual(['.ci/run']);
    expect(statSync(join(ROOT, '.ci/run')).mode & 0o111).not.toBe(0);
    expect(permissions).toEqual({ contents: 'read' });
  });

  it('has the version of Go that the documents ask for', () => {
    const [, version = ''] = /go-version: ["']([\d.]+)/.exec(text) ?? [];
    for (const document of ['README.md', 'CONTRIBUTING.md']) expect(read(document)).toContain(`Go ${version} and Node`);
  });
});

it('every form of an issue has a name, what it is for, and fields with an id', () => {
  const folder = '.github/ISSUE_TEMPLATE';
  for (const file of readdirSync(join(ROOT, folder)).filter((name) => name !== 'config.yml')) {
    const form = parse(read(`${folder}/${file}`)) as {
      readonly name: string;
      readonly description: string;
      readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: object }[];
    };
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const fields = form.body.filter(({ type }) => type !== 'markdown');
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    expect(fields.every(({ id, attributes }) => id !== undefined && 'label' in attributes)).toBe(true);
  }
});
