/** Where a forge is: its pages, and its REST API, which on GitHub Enterprise lives below `/api/v3`. */
export interface SiteUrls {
  readonly root: string;
  readonly apiRoot: string;
}

/** The addresses that GitHub's objects of one repository carry. */
export class Urls implements SiteUrls {
  readonly root: string;
  readonly apiRoot: string;
  readonly api: string;
  readonly html: string;

  constructor({ root, apiRoot }: SiteUrls, owner: string, repo: string) {
    this.root = root;
    this.apiRoot = apiRoot;
    this.api = `${apiRoot}/repos/${owner}/${repo}`;
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
