import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type CallInterface = ReturnType<Parameters<Interceptor>[1]>;

/** The gRPC status code of a call that was given up, which no client repeats. */
const CANCELLED = 1;

/**
 * Ends a call whose connection was closed. The client repeats a failed call from a timer; on a connection that was closed
 * meanwhile that throws where nobody can catch it, which ends the process, and the call itself never ends.
 */
const endWithConnection: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch (error) {
    return endedCall(error instanceof Error ? error.message : String(error));
  }
};

function endedCall(details: string): Call {
  const ended: CallInterface = {
    start: (metadata, listener) => {
      // As a call that was made does it: no message, and then why there is none.
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- CANCELLED; the enum's package is not ours
        listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
      });
    },
    sendMessage: () => {},
    sendMessageWithContext: () => {},
    startRead: () => {},
    halfClose: () => {},
    cancelWithStatus: () => {},
    getPeer: () => 'none: the connection is closed',
    getAuthContext: () => null,
  };
  // The class that interceptors are typed to return has private parts, and no caller looks at more than the interface.
  return ended as Call;
}

/** The client's own repetition of failed calls, which ends when the connection is closed. */
export function repeatUntilClosed(): readonly Interceptor[] {
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithConnection];
}
