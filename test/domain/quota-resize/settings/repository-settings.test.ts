import { describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../../../starter/config.ts';

const env = {
  CLUSTER_NAME: 'kind',
  HEADROOM_MODE: 'propose',
  GITHUB_OWNER: 'acme',
  GITHUB_REPO: 'gitops',
  GITHUB_TOKEN: 'a-token',
};

function load(more: Record<string, string> = {}, file?: string): Config {
  const argv = file === undefined ? [] : ['--config', 'headroom.yaml'];
  return loadConfig({ env: { ...env, ...more }, argv, readFile: () => file ?? '' });
}

describe('the repositories', () => {
  it('are the one of owner and repository, and then those of the list with their branches', () => {
    const config = load({ GITHUB_BASE_BRANCH: 'main', GITHUB_REPOSITORIES: 'acme/platform@release/live, other/x.y' });
    expect(config.github?.repositories).toEqual([
      { owner: 'acme', repo: 'gitops', baseBranch: 'main' },
      { owner: 'acme', repo: 'platform', baseBranch: 'release/live' },
      { owner: 'other', repo: 'x.y', baseBranch: undefined },
    ]);
  });

  it('are enough as a list alone, and half the name of a first one is not', () => {
    const { GITHUB_OWNER, GITHUB_REPO, ...alone } = { ...env, GITHUB_REPOSITORIES: 'acme/platform@live,acme/tenants' };
    expect(loadConfig({ env: alone, argv: [] })).toMatchObject({
      github: {
        owner: 'acme',
        repo: 'platform',
        repositories: [
          { owner: 'acme', repo: 'platform', baseBranch: 'live' },
          { owner: 'acme', repo: 'tenants' },
        ],
      },
      notices: [],
    });
    expect(() => loadConfig({ env: { ...alone, GITHUB_OWNER }, argv: [] })).toThrow('GITHUB_REPO: is required');
    expect(() => loadConfig({ env: { ...alone, GITHUB_REPO }, argv: [] })).toThrow('GITHUB_OWNER: is required');
  });

  it('are a list in the file, too', () => {
    const config = load({}, 'github:\n  repositories: [acme/platform@live, acme/tenants]\n');
    expect(config.github?.repositories.map(({ repo }) => repo)).toEqual(['gitops', 'platform', 'tenants']);
  });

  for (const wrong of [
    'platform',
    'acme/',
    'acme/..',
    'acme/a/b',
    'acme/a@',
    'https://github.com/acme/a',
    'acme/a@b c',
  ]) {
    it(`are rejected when one is no repository: ${wrong}`, () => {
      expect(() => load({ GITHUB_REPOSITORIES: `acme/ok,${wrong}` })).toThrow(
        /GITHUB_REPOSITORIES.*owner\/name@branch/,
      );
    });
  }

  it('that are one value elsewhere may not be a list there', () => {
    expect(() => load({}, 'github:\n  baseBranch: [a, b]\n')).toThrow('github.baseBranch must be a single value');
  });
});

describe('the words of pull requests', () => {
  it('are read as they are written', () => {
    const file =
      'pullRequest:\n  labels: [quota, "cluster/{{cluster}}"]\n  bodyTemplate: |\n    {{#each changes}}\n    - {{code resource}}\n    {{/each}}\n';
    const { pullRequest } = load({ PULL_REQUEST_TITLE_TEMPLATE: 'Raise {{target}}' }, file);
    expect(pullRequest).toEqual({
      titleTemplate: 'Raise {{target}}',
      bodyTemplate: '{{#each changes}}\n- {{code resource}}\n{{/each}}\n',
      labels: ['quota', 'cluster/{{cluster}}'],
    });
  });

  for (const [name, text, message] of [
    [
      'PULL_REQUEST_TITLE_TEMPLATE',
      '{{titel}}',
      /PULL_REQUEST_TITLE_TEMPLATE.*"titel" not defined.*the names are .*summary/,
    ],
    ['PULL_REQUEST_BODY_TEMPLATE', '{{#if', /PULL_REQUEST_BODY_TEMPLATE.*Parse error/],
    ['PULL_REQUEST_BRANCH_TEMPLATE', 'bots/{{quota}}', /PULL_REQUEST_BRANCH_TEMPLATE.*must contain \{\{id\}\}/],
    ['PULL_REQUEST_LABELS', 'a,{{b}}', /PULL_REQUEST_LABELS.*"b" not defined/],
  ] as const) {
    it(`stop the process where a template cannot be used: ${name}=${text}`, () => {
      expect(() => load({ [name]: text })).toThrow(message);
    });
  }

  it('link to the UI of Temporal in the namespace of the workflows', () => {
    expect(load().temporalUi).toBeNull();
    const more = { TEMPORAL_UI_URL: 'https://temporal.example.com/', TEMPORAL_NAMESPACE: 'platform' };
    expect(load(more).temporalUi).toEqual({ url: 'https://temporal.example.com', namespace: 'platform' });
  });
});
