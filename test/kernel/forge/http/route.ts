import type { Caller } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import type { Body } from './body.ts';
import type { FieldFault } from './faults.ts';

/** One request to the API, taken apart. */
export interface Call extends Caller {
  readonly forge: ForgeContext;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** The body as it came. */
  readonly text: string;
  /** What follows `application/vnd.github.` in the Accept header: json, diff, raw, sha … */
  readonly format: string;
  /** The field of a GraphQL request that goes wrong. */
  readonly fieldFault?: FieldFault;
  /** The address that was asked for, for Link headers. */
  readonly url: URL;
}

export interface Answer {
  readonly status: number;
  /** An object or array is written as JSON; a string or a Buffer as it is. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a request that changes things did so; without it, every one that was answered. */
  readonly effect?: boolean;
  /** The branch that it was about, where the path and the body's first level do not tell. */
  readonly branch?: string;
}

/** One endpoint of the API, under the path template of GitHub's OpenAPI description. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Below https://docs.github.com/rest/; error answers point there. */
  readonly docs: string;
  /** Asked by an app, with its assertion; every other route is not. */
  readonly for?: 'app';
  /** Parameters that may contain slashes. */
  readonly wide?: readonly string[];
  handle(call: Call): Promise<Answer> | Answer;
}

export const REPOSITORY = '/repos/{owner}/{repo}';

export const ok = (body: unknown, headers?: Record<string, string>): Answer => ({
  status: 200,
  body,
  ...(headers ? { headers } : {}),
});
export const created = (body: unknown): Answer => ({ status: 201, body });
export const noContent = (): Answer => ({ status: 204 });

/** A table of routes, compiled: the first that fits answers. */
export class Router {
  readonly #routes: { route: Route; pattern: RegExp; names: string[] }[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => {
      const names: string[] = [];
      const pattern = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
        names.push(name);
        return route.wide?.includes(name) ? '(.+)' : '([^/]+)';
      });
      return { route, pattern: new RegExp(`^${pattern}$`), names };
    });
  }

  /** @param path still percent-encoded, without the query */
  match(method: string, path: string): { route: Route; params: Record<string, string> } | undefined {
    for (const { route, pattern, names } of this.#routes) {
      if (route.method !== method) continue;
      const found = pattern.exec(path);
      if (!found) continue;
      try {
        const params = Object.fromEntries(
          names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]),
        );
        return { route, params };
      } catch {
        // A lone % is no address of anything.
        return undefined;
      }
    }
    return undefined;
  }
}
