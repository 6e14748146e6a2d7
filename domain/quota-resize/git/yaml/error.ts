/** Why a value cannot be edited. */
export type EditObstacle =
  /** The value does not exist or is not a scalar. */
  | 'NotAScalar'
  /** The value spans several lines. */
  | 'MultiLine'
  /** The value has a tag that would not fit the new value. */
  | 'Tagged'
  /** Other places of the document share the value through an anchor, alias or merge. */
  | 'SharedByAnchor';

/** An edit that is impossible, or whose result did not read back as intended. Nothing of it is returned. */
export class ManifestEditError extends Error {
  override readonly name = 'ManifestEditError';
  /** Absent when the problem is the file or the edit itself and not the value. */
  readonly obstacle: EditObstacle | undefined;

  constructor(message: string, obstacle?: EditObstacle) {
    super(message);
    this.obstacle = obstacle;
  }
}
