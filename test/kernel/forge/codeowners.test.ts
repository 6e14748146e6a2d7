import { describe, expect, it } from 'vitest';
import { ownersOf, parseCodeowners } from './codeowners.ts';

// The examples of GitHub's documentation, one owner each, so that the matching line shows.
const RULES = parseCodeowners(`
# everything that no later line means
*       @everyone
*.js    @js
*.txt   @acme/octocats  # an owner may be a team
/build/logs/ @doctocat
docs/*  docs@example.com
apps/   @apps
/docs/  @docs-root
/scripts/ @doctocat @octocat
**/logs @logs
/free/  @free
/free/nobody
path\\ with\\ blank/ @blank
`);

describe('the owners of a file', () => {
  it.each([
    ['README.md', ['@everyone']],
    ['deep/er/app.js', ['@js']],
    ['notes.txt', ['@acme/octocats']],
    ['build/logs/today/1.log', ['@logs']],
    ['src/build/logs', ['@logs']],
    ['src/apps/one/main.go', ['@apps']],
    ['apps', ['@everyone']],
    ['docs/a.md', ['@docs-root']],
    ['scripts/run', ['@doctocat', '@octocat']],
    ['free/a', ['@free']],
    ['free/nobody', []],
    ['path with blank/x', ['@blank']],
  ])('of %s are %j', (path, owners) => {
    expect(ownersOf(RULES, path)).toEqual(owners);
  });

  it('are those of docs/* only in that folder, unlike in .gitignore', () => {
    const rules = parseCodeowners('docs/* @docs');
    expect(ownersOf(rules, 'docs/getting-started.md')).toEqual(['@docs']);
    expect(ownersOf(rules, 'docs/build-app/troubleshooting.md')).toEqual([]);
    expect(ownersOf(rules, 'more/docs/a.md')).toEqual([]);
  });

  it('do not come from a line that GitHub does not understand', () => {
    const rules = parseCodeowners('* @all\n!a.md @not\n[ab].md @range\n\\#c.md @hash\nd.md @fine nonsense\n');
    for (const path of ['a.md', 'b.md', '#c.md', 'd.md']) expect(ownersOf(rules, path)).toEqual(['@all']);
  });

  it('follow the case of the path', () => {
    expect(ownersOf(parseCodeowners('/Docs/ @docs'), 'docs/a')).toEqual([]);
  });
});
