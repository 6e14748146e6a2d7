/** Kubernetes' API as paths and JSON: the stream has kinds and subresources that no generated client covers all of. */
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';

/** JSON in the shape of Kubernetes' objects, as far as it is read here. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly phase?: string;
    readonly replicas?: number;
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
  readonly items?: readonly ApiObject[];
}

/** What the API server said, whether it agreed or not. */
export interface ApiAnswer {
  readonly code: number;
  /** Kubernetes' reason of a refusal, such as AlreadyExists; empty for an answer that is no Status. */
  readonly reason: string;
  /** Kubernetes' message of a refusal. */
  readonly message: string;
  /** Whether a NotFound is about the object and not about its resource. */
  readonly isAboutObject: boolean;
  readonly object: ApiObject;
}

export interface Api {
  /** @throws Error when the server cannot be reached or breaks the connection. */
  ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, patch?: PatchKind): Promise<ApiAnswer>;
  close(): void;
}

/** `strategic` merges the lists that Kubernetes knows by name; `merge` replaces lists. */
export type PatchKind = 'strategic' | 'merge';

const CONTENT_TYPES: Readonly<Record<PatchKind, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
};

/**
 * Milliseconds: a request of a stalled server is given up, and asked again by those who are patient. One that deletes a
 * thousand objects takes seconds, and ten times as long where all cores are busy with something else.
 */
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Milliseconds: a connection that nobody has used for so long is closed here. The API server closes it after 90 s, and a
 * request that is sent on it just then fails.
 */
const IDLE_TIMEOUT_MS = 30_000;

/** Opens the API of a kubeconfig's cluster. */
export function openApi(kubeconfig: string): Api {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const server = new URL(config.getCurrentCluster()?.server ?? '');
  const authority = Buffer.from(config.getCurrentCluster()?.caData ?? '', 'base64').toString('utf8');
  const token = config.getCurrentUser()?.token ?? '';
  const agent = new Agent({ keepAlive: true, ca: authority, timeout: IDLE_TIMEOUT_MS });
  return {
    ask: async (method, path, body, patch) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(content === undefined
          ? {}
          : {
              'content-type': patch === undefined ? 'application/json' : CONTENT_TYPES[patch],
              'content-length': Buffer.byteLength(content),
            }),
      };
      return await new Promise<ApiAnswer>((resolve, reject) => {
        const asked = request(
          { host: server.hostname, port: server.port, path, method, headers, agent, timeout: REQUEST_TIMEOUT_MS },
          (response) => {
            text(response).then((answer) => resolve(readAnswer(response.statusCode ?? 0, answer)), reject);
          },
        );
        asked.once('timeout', () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
        asked.once('error', reject);
        asked.end(content);
      });
    },
    close: () => agent.destroy(),
  };
}

interface StatusAnswer {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly name?: string };
}

/** A server that is starting answers in plain text at times. */
function readAnswer(code: number, answer: string): ApiAnswer {
  try {
    const object = JSON.parse(answer) as ApiObject & StatusAnswer;
    return {
      code,
      reason: object.reason ?? '',
      message: object.message ?? '',
      isAboutObject: object.details?.name !== undefined,
      object,
    };
  } catch {
    return { code, reason: '', message: answer.slice(0, 200), isAboutObject: false, object: {} };
  }
}
