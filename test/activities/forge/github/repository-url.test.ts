import { describe, expect, it } from 'vitest';
import { hostOfRepositories, parseRepositoryUrl } from '../../../../activities/forge/github/repository-url.ts';

describe('the address of a repository', () => {
  for (const url of [
    'https://github.com/acme/gitops',
    'https://github.com/acme/gitops.git',
    'https://github.com/acme/gitops/',
    'https://x-access-token@GitHub.com/acme/gitops.git',
    'ssh://git@github.com/acme/gitops.git',
    'ssh://git@ssh.github.com:443/acme/gitops.git',
    'git@github.com:acme/gitops.git',
    'github.com:acme/gitops',
  ]) {
    it(`${url} is acme/gitops on github.com`, () => {
      expect(parseRepositoryUrl(url)).toEqual({ host: 'github.com', repository: 'acme/gitops' });
    });
  }

  for (const url of [
    '',
    'acme/gitops',
    'https://github.com/acme',
    'oci://ghcr.io/acme/gitops',
    'https://g.com/a/b/c',
    'C:\\repo',
  ]) {
    it(`"${url}" is none`, () => {
      expect(parseRepositoryUrl(url)).toBeNull();
    });
  }

  it('is on the host that the API belongs to', () => {
    expect(hostOfRepositories('https://api.github.com')).toBe('github.com');
    expect(hostOfRepositories('https://github.example.com/api/v3')).toBe('github.example.com');
    expect(hostOfRepositories('https://api.acme.ghe.com')).toBe('acme.ghe.com');
    expect(hostOfRepositories('http://127.0.0.1:8080')).toBe('127.0.0.1');
  });
});
