/** GET requests that the generated clients cannot make: any path, and an Accept header of one's own. */
import {
  ApiException,
  type Configuration,
  HttpMethod,
  type KubeConfig,
  type KubernetesObject,
} from '@kubernetes/client-node';
import { apiMessage } from './failure.ts';
import { type ListPage, METADATA_LIST } from './list.ts';
import type { GroupResource } from '../../domain/kernel/group-resource.ts';

export interface ApiGetOptions {
  readonly accept: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** An ETag: an answer that is still the same is not sent again. */
  readonly ifNoneMatch?: string | undefined;
}

export type ApiAnswer =
  | { readonly kind: 'answer'; readonly body: unknown; readonly etag: string | undefined }
  | { readonly kind: 'notModified' };

/** @throws {ApiException} for every answer but 200 and 304; what the network says otherwise. */
export type ApiGet = (path: string, options: ApiGetOptions) => Promise<ApiAnswer>;

/** Requests with the credentials, connections and time limit of the kubeconfig's own clients. */
export function createApiGet(kubeConfig: KubeConfig): ApiGet {
  const client = kubeConfig.makeApiClient(AnyPath);
  return async (path, options) => await client.get(path, options);
}

class AnyPath {
  readonly #configuration: Configuration;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  async get(path: string, { accept, query = {}, ifNoneMatch }: ApiGetOptions): Promise<ApiAnswer> {
    const { baseServer, authMethods, httpApi } = this.#configuration;
    const request = baseServer.makeRequestContext(path, HttpMethod.GET);
    request.setHeaderParam('Accept', accept);
    if (ifNoneMatch !== undefined) request.setHeaderParam('If-None-Match', ifNoneMatch);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) request.setQueryParam(name, value);
    }
    await authMethods.default?.applySecurityAuthentication(request);
    const response = await httpApi.send(request).toPromise();
    const text = await response.body.text();
    if (response.httpStatusCode === 304) return { kind: 'notModified' };
    if (response.httpStatusCode !== 200) {
      throw new ApiException(response.httpStatusCode, `GET ${path}`, text, response.headers);
    }
    return { kind: 'answer', body: JSON.parse(text), etag: response.headers['etag'] };
  }
}

/** The path of the list of a resource: everywhere, or in a namespace. */
export function listPath(
  { group, version, resource }: GroupResource & { readonly version: string },
  namespace?: string | null,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === null || namespace === undefined
    ? `${root}/${resource}`
    : `${root}/namespaces/${namespace}/${resource}`;
}

/** A list as the API server sends it: names and times as in its JSON, not as in the generated clients. */
interface PlainList<T> {
  readonly items?: T[] | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

interface PlainPages {
  readonly path: string;
  readonly metadataOnly: boolean;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

const WHOLE = 'application/json';

/**
 * Pages of a list, of objects as they are sent: a time is text, as it is in the events of a watch.
 *
 * @param metadataOnly asks for the objects' metadata; nothing else of them leaves the API server.
 */
export function listPlainPages<T extends KubernetesObject>(
  get: ApiGet,
  { path, metadataOnly, ...selectors }: PlainPages,
): ListPage<T> {
  return async ({ limit, _continue }) => {
    const answer = await get(path, {
      accept: metadataOnly ? METADATA_LIST : WHOLE,
      query: { ...selectors, limit: String(limit), continue: _continue },
    });
    if (answer.kind === 'notModified') throw new Error(`304 for ${path} without having asked for it`);
    const { items, metadata } = answer.body as PlainList<T>;
    const { resourceVersion, continue: next } = metadata ?? {};
    return {
      items: items ?? [],
      metadata: {
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(next === undefined ? {} : { _continue: next }),
      },
    };
  };
}

/** What went wrong with a request or a watch, in one line, and the HTTP code if the API server answered. */
export function failureOf(error: unknown): { readonly code: number | undefined; readonly reason: string } {
  if (error instanceof ApiException) {
    return { code: error.code, reason: `${error.code} ${apiMessage(error) ?? 'without a message'}` };
  }
  if (!(error instanceof Error)) return { code: undefined, reason: JSON.stringify(error) };
  // A watch that was refused has the code, and the text of the status line as its message.
  const code = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return { code, reason: `${code === undefined ? '' : `${code} `}${error.message}${cause}` };
}
