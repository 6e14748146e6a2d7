/**
 * Interceptors of every workflow where the process traces; only the bundle of such processes has them. They write headers and change
 * nothing else: no command, no random number and no step between a promise and whoever awaits it. So a history that was recorded
 * with them replays without them, and the other way round.
 */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { proxySinks, type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import {
  carrierOf,
  EpisodeTrace,
  TRACE_HEADER,
  type TraceCarrier,
  type TraceContext,
  type TraceSinks,
} from '../../domain/kernel/trace.ts';
import { onPublished } from './visibility.ts';

type Headers = Record<string, Payload>;

/** Called once for each run. */
export function interceptors(): WorkflowInterceptors {
  const { runId, workflowType } = workflowInfo();
  const { headroomTrace } = proxySinks<TraceSinks>();
  const trace = new EpisodeTrace({ runId, name: `RunWorkflow:${workflowType}` }, (span) => headroomTrace.ended(span));
  onPublished((isResting) => trace.published(isResting, Date.now()));
  const end = (): void => trace.end(Date.now());
  const withParent = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    withContext(input, trace.parent(Date.now()));
  return {
    inbound: [
      {
        execute(input, next) {
          trace.begin(carrierIn(input.headers));
          const running = next(input);
          void running.then(end, end);
          return running;
        },
        handleSignal(input, next) {
          trace.received(carrierIn(input.headers), Date.now());
          return next(input);
        },
        handleUpdate(input, next) {
          trace.received(carrierIn(input.headers), Date.now());
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withParent(input)),
        startChildWorkflowExecution: (input, next) => next(withParent(input)),
        signalWorkflow: (input, next) => next(withParent(input)),
        continueAsNew(input, next) {
          const carried = trace.carried();
          return next(carried === null ? input : { ...input, headers: withCarrier(input.headers, carried) });
        },
      },
    ],
  };
}

function carrierIn(headers: Headers): TraceCarrier {
  const payload = headers[TRACE_HEADER];
  return payload === undefined ? {} : defaultPayloadConverter.fromPayload<TraceCarrier>(payload);
}

function withContext<Input extends { readonly headers: Headers }>(input: Input, context: TraceContext | null): Input {
  return context === null ? input : { ...input, headers: withCarrier(input.headers, carrierOf(context)) };
}

function withCarrier(headers: Headers, carrier: TraceCarrier): Headers {
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}
