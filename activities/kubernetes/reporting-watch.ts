import { type KubeConfig, type KubernetesObject, type RequestContext, Watch } from '@kubernetes/client-node';

/**
 * The same configuration, but its watches request metadata only. The library's watch takes headers from nowhere else.
 */
export function askingForMetadata(kubeConfig: KubeConfig): KubeConfig {
  return Object.create(kubeConfig, {
    applySecurityAuthentication: {
      // Called on the original object: private members do not exist on an object that only inherits from it.
      value: async (request: RequestContext): Promise<void> => {
        await kubeConfig.applySecurityAuthentication(request);
        request.setHeaderParam('Accept', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
      },
    },
  }) as KubeConfig;
}

export interface WatchReports {
  /** Called when the API server has responded, unlike the library's `connect`, which comes before. */
  readonly onAlive: () => void;
  /**
   * Called when the connection has ended for any reason; the library opens the next one now or, after an error, never.
   */
  readonly onEnd: () => void;
  /** The cache holds everything up to this version. */
  readonly onProgress: (resourceVersion: string) => void;
  readonly shape: (object: KubernetesObject) => KubernetesObject;
  /** After an abort nothing is watched, reported or restarted. */
  readonly signal: AbortSignal;
}

/** Ends a watch with the error code for which the library lists again. */
class ListAnew extends Error {
  override readonly name = 'ListAnew';
  readonly statusCode = 410;
}

/**
 * client-node restarts a watch without awaiting it, so an error before the request (such as unreadable credentials)
 * would be an unhandled rejection; this class ends the watch with it instead. client-node also ignores errors of its
 * callback, and does not report progress; this class does.
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
      // The buffer of an ended watch may still contain lines.
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
      // The watch was ended while it was being opened and could not be aborted yet.
      if (ended || signal.aborted) controller.abort();
      else onAlive();
      return controller;
    } catch (error) {
      end(error);
      return new AbortController();
    }
  }
}
