/** All that is known to be applied from a tree, by the folder: what several deliveries apply feeds the quotas of all of them. */
import type { Delivery } from './delivery.ts';

/** A folder that is applied into a namespace, as the cluster shows it. JSON-safe. */
export interface AppliedFolder {
  /** `the Argo CD Application argocd/team-b` */
  readonly learntFrom: string;
  /** The folder, from the repository's root. */
  readonly path: string;
  readonly namespace: string;
  /** Whether the namespace also replaces the namespace that an object names itself. */
  readonly overrides: boolean;
  /** Whether files of the folders in the folder are applied, too. */
  readonly recurses: boolean;
}

export class AppliedFolders {
  /** The same for the same deliveries of one tree. */
  readonly key: string;
  readonly #byFolder: ReadonlyMap<string, readonly Delivery[]>;

  constructor(deliveries: readonly Delivery[] = [], key = '') {
    this.key = key;
    this.#byFolder = Map.groupBy(deliveries, ({ folder }) => folder);
  }

  static of(folders: readonly AppliedFolder[]): AppliedFolders {
    return new AppliedFolders(
      folders.map((applied): Delivery => ({ ...applied, line: 1, folder: applied.path, valueFiles: [] })),
    );
  }

  /** The deliveries of exactly this folder. */
  at(folder: string): readonly Delivery[] {
    return this.#byFolder.get(folder) ?? NONE;
  }
}

const NONE: readonly Delivery[] = [];
