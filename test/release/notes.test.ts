import { expect, it } from 'vitest';
import { releaseNotes } from '../../tools/release/notes.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- What comes later.

## [0.2.0] - 2026-12-01

### Added

- A chart.

## [0.1.0] - 2026-11-01

- The first.
`;

/** Of whatever version is asked about. */
const charts = {};

it('the notes are what the changelog has for the version, without its heading', () => {
  expect(releaseNotes({ version: '0.2.0', isChanged: false, changelog, charts })).toBe('### Added\n\n- A chart.\n');
  expect(releaseNotes({ version: '0.1.0', isChanged: false, changelog, charts })).toBe('- The first.\n');
});

it.each(['0.3.0', '0.2', '.'])('a version that the changelog does not have is refused: %s', (version) => {
  expect(() => releaseNotes({ version, isChanged: false, changelog, charts })).toThrow(
    `CHANGELOG.md says nothing of ${version}, which is the version of package.json`,
  );
});

it('a section without a word is none', () => {
  expect(() =>
    releaseNotes({ version: '0.2.0', isChanged: false, changelog: '## [0.2.0]\n\n## [0.1.0]\n', charts }),
  ).toThrow('CHANGELOG.md says nothing of 0.2.0');
});

it.each([
  ['version: 0.1.0\nappVersion: 0.2.0\n', 'version is 0.1.0'],
  ['version: 0.2.0\nappVersion: 0.1.0\n', 'appVersion is 0.1.0'],
])('a chart of another version is not released: %j', (chart, wrong) => {
  const other = { 'deploy/chart/Chart.yaml': chart };
  expect(() => releaseNotes({ version: '0.2.0', isChanged: false, changelog, charts: other })).toThrow(
    `deploy/chart/Chart.yaml: its ${wrong}, and package.json has 0.2.0`,
  );
});

it('files that are in no commit are not released', () => {
  expect(() => releaseNotes({ version: '0.2.0', isChanged: true, changelog, charts })).toThrow(
    'some files differ from the commit',
  );
});
