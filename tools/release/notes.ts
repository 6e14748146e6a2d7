import { parse } from 'yaml';

/** Why nothing can be released, in one sentence. */
export class ReleaseRefused extends Error {}

interface Releasable {
  readonly version: string;
  /** Whether files differ from the commit. */
  readonly isChanged: boolean;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
  /** The texts of the charts' Chart.yaml, by their paths. */
  readonly charts: Readonly<Record<string, string>>;
}

/**
 * What CHANGELOG.md says of the version.
 *
 * @throws ReleaseRefused when it says nothing, or when what would be released is not what is committed.
 */
export function releaseNotes({ version, isChanged, changelog, charts }: Releasable): string {
  if (isChanged) {
    throw new ReleaseRefused(
      'some files differ from the commit, so nobody could build this release again: commit them, or take them back',
    );
  }
  for (const [path, text] of Object.entries(charts)) {
    const chart = parse(text) as Readonly<Record<'version' | 'appVersion', string>>;
    for (const key of ['version', 'appVersion'] as const) {
      if (chart[key] === version) continue;
      throw new ReleaseRefused(
        `${path}: its ${key} is ${chart[key]}, and package.json has ${version}: give all of them the same, then \`npm run manifests\``,
      );
    }
  }
  const sections = changelog.split(/^(?=## \[)/m);
  const section = sections.find((text) => text.startsWith(`## [${version}]`));
  const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
  if (notes === '') {
    throw new ReleaseRefused(
      `CHANGELOG.md says nothing of ${version}, which is the version of package.json: name the section of what is unreleased \`[${version}]\`, with the day`,
    );
  }
  return `${notes}\n`;
}
