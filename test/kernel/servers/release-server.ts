import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request of a test was about. */
interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  /** How many bytes of the body were sent. */
  readonly sent: number;
}

/** How the server treats a path. */
interface Treatment {
  /** Only so many requests are treated like this. */
  readonly times?: number;
  /** Instead of the file. */
  readonly status?: number;
  /** The connection is cut when so many bytes of each answer have been sent. */
  readonly cutAfter?: number;
  /** It is somewhere else, as on hosts that send everybody on to a network of servers. */
  readonly redirectTo?: string;
  /** Every request is answered with the whole file. */
  readonly ignoresRange?: boolean;
  /** It takes the request and says nothing, or nothing after the bytes of `cutAfter`. */
  readonly isSilent?: boolean;
  /** The connection is closed without an answer. */
  readonly isReset?: boolean;
  /** The file comes again and again, and no length is given. */
  readonly isEndless?: boolean;
}

/** A mirror of release files: the hosts' names are its first folders. Ranges, ETags and faults as real hosts have them. */
export interface ReleaseServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  put: (url: string, content: string | Uint8Array) => void;
  treat: (url: string, treatment: Treatment) => void;
  stop: () => Promise<void>;
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export async function startReleaseServer(): Promise<ReleaseServer> {
  const files = new Map<string, Uint8Array>();
  const treatments = new Map<string, Treatment>();
  const asked: Asked[] = [];
  const pathOf = (url: string): string => `/${url.replace(/^https:\/\//, '')}`;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const { range } = request.headers;
    const content = files.get(path);
    const { times = Infinity, ...treatment } = treatments.get(path) ?? {};
    treatments.set(path, { ...treatment, times: times - 1 });
    const { status, cutAfter, redirectTo, ignoresRange, isSilent, isReset, isEndless }: Treatment =
      times > 0 ? treatment : {};
    if (isReset) {
      asked.push({ path, range, sent: 0 });
      request.socket.destroy();
      return;
    }
    if (isSilent && cutAfter === undefined) {
      asked.push({ path, range, sent: 0 });
      return;
    }
    if (redirectTo !== undefined) {
      response.writeHead(302, { location: redirectTo }).end();
      return;
    }
    if (content === undefined || status !== undefined) {
      asked.push({ path, range, sent: 0 });
      response.writeHead(status ?? 404).end('what is asked for is not here');
      return;
    }
    if (isEndless) {
      asked.push({ path, range, sent: Infinity });
      while (!response.destroyed) await new Promise((resolve) => response.write(content, resolve));
      return;
    }
    const etag = `"${sha256(content).slice(0, 16)}"`;
    const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
    const from = ignoresRange || !isSame ? undefined : /^bytes=(\d+)-$/.exec(range ?? '')?.[1];
    const start = Number(from ?? 0);
    if (from !== undefined && start >= content.length) {
      asked.push({ path, range, sent: 0 });
      response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
      return;
    }
    const body = content.subarray(start);
    const part = body.subarray(0, cutAfter ?? body.length);
    asked.push({ path, range, sent: part.length });
    response.writeHead(from === undefined ? 200 : 206, {
      etag,
      'content-length': body.length,
      ...(from === undefined ? {} : { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }),
    });
    await new Promise((resolve) => response.write(part, resolve));
    if (part.length === body.length) response.end();
    else if (!isSilent) request.socket.destroySoon();
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    put: (url, content) => files.set(pathOf(url), Buffer.from(content)),
    treat: (url, treatment) => treatments.set(pathOf(url), treatment),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
