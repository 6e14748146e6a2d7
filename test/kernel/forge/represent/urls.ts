/** The addresses that GitHub's objects carry, on this forge: the API and the pages live at the same address. */
export class Urls {
  readonly root: string;
  readonly api: string;
  readonly html: string;

  constructor(root: string, owner: string, repo: string) {
    this.root = root;
    this.api = `${root}/repos/${owner}/${repo}`;
    this.html = `${root}/${owner}/${repo}`;
  }

  /** A path as a part of an address: its slashes stay. */
  path(path: string): string {
    return path.split('/').map(encodeURIComponent).join('/');
  }
}

/** GitHub's opaque id of a node. */
export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}
