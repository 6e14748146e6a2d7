import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';

/** Milliseconds without an event after which is asked again all the same. */
const AT_MOST_MS = 5_000;
/** Milliseconds after which is asked again for a workflow that is not there yet, or whose run is over. */
const WITHOUT_HISTORY_MS = 300;
/** Milliseconds. An activity is six events in a burst: whoever asks after each of them asks more than one who does not wait. */
const BURST_MS = 250;

/** The code of gRPC. */
const DEADLINE_EXCEEDED = 4;

/**
 * Tells when the history of a workflow has grown. What a workflow answers to a query changes with its history only, and a
 * query costs the worker and Temporal several times what it costs Temporal to keep somebody waiting for an event.
 */
export class HistoryWatch {
  readonly #client: Client;
  readonly #workflowId: string;
  /** Where in the history of a run the next event is awaited; null where that is not known. */
  #after: Uint8Array | null = null;
  #phase: string | undefined;

  constructor(client: Client, workflowId: string) {
    this.#client = client;
    this.#workflowId = workflowId;
  }

  /**
   * The phase that the run shows by its search attribute, as of the last event that was read; undefined where none was. The
   * events are read anyway, so nobody has to ask Temporal for it.
   */
  get phase(): string | undefined {
    return this.#phase;
  }

  /** To be called before a question: the next event is one that came after this. */
  async mark(): Promise<void> {
    this.#after ??= await this.#read(null);
  }

  /** Returns when an event has come since the mark, or after a while. */
  async next(): Promise<void> {
    if (this.#after === null) {
      await sleep(WITHOUT_HISTORY_MS);
      return;
    }
    [this.#after] = await Promise.all([this.#read(this.#after), sleep(BURST_MS)]);
  }

  /** What comes after `token`, or the whole history; null where there is no run, or it is over, or nothing came. */
  async #read(token: Uint8Array | null): Promise<Uint8Array | null> {
    try {
      const answer = await this.#client.withDeadline(
        Date.now() + AT_MOST_MS,
        async () =>
          await this.#client.workflowService.getWorkflowExecutionHistory({
            namespace: this.#client.options.namespace,
            execution: { workflowId: this.#workflowId },
            waitNewEvent: true,
            ...(token === null ? {} : { nextPageToken: token }),
          }),
      );
      for (const event of answer.history?.events ?? []) this.#phase = phaseIn(event) ?? this.#phase;
      return answer.nextPageToken.length === 0 ? null : answer.nextPageToken;
    } catch (error) {
      // Without an event in time the next one is awaited at the same place. Where there is no run, or Temporal is away,
      // whoever waits asks again, and says what that came to.
      const code: number | null = isGrpcServiceError(error) ? error.code : null;
      return code === DEADLINE_EXCEEDED ? token : null;
    }
  }
}

type HistoryEvent = NonNullable<
  NonNullable<Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>['history']>['events']
>[number];

/** The phase that an event sets: that of an upsert, or the one that a run begins with. */
function phaseIn(event: HistoryEvent): string | undefined {
  const { indexedFields } =
    (event.upsertWorkflowSearchAttributesEventAttributes ?? event.workflowExecutionStartedEventAttributes)
      ?.searchAttributes ?? {};
  const data = indexedFields?.['HeadroomPhase']?.data;
  return data == null ? undefined : String(JSON.parse(Buffer.from(data).toString()));
}
