/** A receiver of OTLP over HTTP, in JSON: what it is sent is decoded by the protocol's own shape, and anything else is refused. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** What it does with a request: takes it, refuses it, or never answers. */
type ReceiverMood = 'accept' | 'refuse' | 'hang';

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first one of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0: unset, 1: fine, 2: an error. */
  readonly status: number;
}

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Of each request, whatever became of it. */
  readonly requests: readonly { readonly headers: IncomingMessage['headers']; readonly body: string }[];
  mood: ReceiverMood;
  stop(): Promise<void>;
}

const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributes = z.array(z.strictObject({ key: z.string(), value: anyValue }));
const nanoseconds = z.string().regex(/^\d{19}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);
const span = z.strictObject({
  traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
  spanId,
  parentSpanId: spanId.optional(),
  traceState: z.string().optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: z.array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string(), attributes })),
  status: z.strictObject({ code: z.number().int().min(0).max(2), message: z.string().optional() }),
});
const exportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span) })),
    }),
  ),
});

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    requests.push({ headers: request.headers, body });
    if (receiver.mood === 'hang') return;
    if (receiver.mood === 'refuse') return void response.writeHead(400).end();
    if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end();
    spans.push(...decoded(body));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    mood: 'accept',
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

function decoded(body: string): readonly ReceivedSpan[] {
  return exportRequest.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(named(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes: own, status, ...rest }) => ({
        service,
        traceId: rest.traceId,
        spanId: rest.spanId,
        ...(rest.parentSpanId === undefined ? {} : { parentSpanId: rest.parentSpanId }),
        name: rest.name,
        from: milliseconds(startTimeUnixNano),
        to: milliseconds(endTimeUnixNano),
        attributes: named(own),
        status: status.code,
      })),
    );
  });
}

function named(list: z.infer<typeof attributes>): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function milliseconds(nanos: string): number {
  return Number(BigInt(nanos) / 1_000_000n);
}
