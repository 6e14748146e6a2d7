/** Why a value cannot be changed. */
export type EditObstacle =
  /** It is not there, or no single value. */
  | 'NotAScalar'
  /** It goes over several lines. */
  | 'MultiLine'
  /** It has a tag that would not fit the new value. */
  | 'Tagged'
  /** Other places of the document have it from here, or this place has it from another. */
  | 'SharedByAnchor';

/** An edit that is impossible, or that did not read back as intended. Nothing of it is returned. */
export class ManifestEditError extends Error {
  override readonly name = 'ManifestEditError';
  /** Absent where the file or the edit itself is wrong, and not the place of the value. */
  readonly obstacle: EditObstacle | undefined;

  constructor(message: string, obstacle?: EditObstacle) {
    super(message);
    this.obstacle = obstacle;
  }
}
