import { type KubeConfig, type KubernetesObject, type RequestContext, Watch } from '@kubernetes/client-node';

/** The same access, whose watches are of the objects' metadata. The library's watch takes its headers from nowhere else. */
export function askingForMetadata(kubeConfig: KubeConfig): KubeConfig {
  return Object.create(kubeConfig, {
    applySecurityAuthentication: {
      // Called on the original: what is private to a class is not on an object that merely inherits from it.
      value: async (request: RequestContext): Promise<void> => {
        await kubeConfig.applySecurityAuthentication(request);
        request.setHeaderParam('Accept', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
      },
    },
  }) as KubeConfig;
}

export interface WatchReports {
  /** The API server has answered and goes on answering; `connect` of the library comes before. */
  readonly onAlive: () => void;
  /** The connection is over, whatever ended it; the library opens the next one now or, after an error, never. */
  readonly onEnd: () => void;
  /** The cache holds everything up to this version. */
  readonly onProgress: (resourceVersion: string) => void;
  readonly shape: (object: KubernetesObject) => KubernetesObject;
  /** Nothing is watched, told or begun again afterwards. */
  readonly signal: AbortSignal;
}

/** What ends a watch so that the library lists anew: the code that it does so for. */
class ListAnew extends Error {
  override readonly name = 'ListAnew';
  readonly statusCode = 410;
}

/**
 * client-node begins a watch again without awaiting it, so what fails before the request is made (credentials that cannot
 * be read at the moment) would be a rejection that nobody handles; here it ends the watch like any other error. It also
 * drops what its callback throws, and tells nobody how far it has come.
 */
export class ReportingWatch extends Watch {
  readonly #reports: WatchReports;
  /** Ends the watch that is running or being opened. */
  #end: ((error: unknown) => void) | null = null;
  #isToListAnew = false;

  constructor(kubeConfig: KubeConfig, reports: WatchReports) {
    super(kubeConfig);
    this.#reports = reports;
  }

  /** Lists as soon as may be: at once while a watch is there to be ended, otherwise in the place of the next one. */
  listAnew(): void {
    this.#isToListAnew = true;
    this.#end?.(new ListAnew());
  }

  isListedAnew(): void {
    this.#isToListAnew = false;
  }

  override async watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const { onAlive, onEnd, onProgress, shape, signal } = this.#reports;
    if (signal.aborted) return new AbortController();
    // The version that the watch begins at is that of the list, if there has just been one.
    onProgress(typeof query['resourceVersion'] === 'string' ? query['resourceVersion'] : '');
    let ended = false;
    const end = (error: unknown): void => {
      if (ended) return;
      ended = true;
      this.#end = null;
      onEnd();
      done(error);
    };
    if (this.#isToListAnew) {
      end(new ListAnew());
      return new AbortController();
    }
    this.#end = end;
    const deliver = (phase: string, object: KubernetesObject, event: unknown): void => {
      // Lines of an ended watch may still be in its buffer.
      if (ended || signal.aborted) return;
      try {
        const isObject = phase === 'ADDED' || phase === 'MODIFIED' || phase === 'DELETED';
        callback(phase, isObject ? shape(object) : object, event);
        if (isObject || phase === 'BOOKMARK') onProgress(object.metadata?.resourceVersion ?? '');
      } catch (error) {
        end(error);
      }
    };
    try {
      const controller = await super.watch(path, query, deliver, end);
      // Ended while it was being opened, when nobody could abort it yet.
      if (ended || signal.aborted) controller.abort();
      else onAlive();
      return controller;
    } catch (error) {
      end(error);
      return new AbortController();
    }
  }
}
