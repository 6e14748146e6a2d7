/** Why nothing can be released, in one sentence. */
export class ReleaseRefused extends Error {}

interface Releasable {
  readonly version: string;
  /** Whether files differ from the commit. */
  readonly isChanged: boolean;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
}

/**
 * What CHANGELOG.md says of the version.
 *
 * @throws ReleaseRefused when it says nothing, or when what would be released is not what is committed.
 */
export function releaseNotes({ version, isChanged, changelog }: Releasable): string {
  if (isChanged) {
    throw new ReleaseRefused(
      'some files differ from the commit, so nobody could build this release again: commit them, or take them back',
    );
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
