/** Many clients that send large webhooks at once, and what that costs the process that receives them. */
import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';

export interface Flood {
  readonly url: string;
  /** The process that listens there. */
  readonly pid: number;
  readonly connections: number;
  /** Of each body. */
  readonly bytes: number;
  /** What the bodies are signed with. */
  readonly secret: string;
}

export interface FloodOutcome {
  /** By how many bytes the process was larger at its largest than before. */
  readonly grownBy: number;
  /** How many connections got which status; 0: none, the connection was closed. */
  readonly statuses: Readonly<Record<number, number>>;
}

/** Opens all connections, and then sends everything on each of them at once. */
export async function flood({ url, pid, connections, bytes, secret }: Flood): Promise<FloodOutcome> {
  const body = bodyOf(bytes);
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const before = await residentBytes(pid, 'VmRSS');
  await forgetPeak(pid);
  const answers = await Promise.all(
    Array.from(
      { length: connections },
      async (_, index) => await sendOne({ url, body, signature, id: `flood-${index}` }),
    ),
  );
  const grownBy = (await residentBytes(pid, 'VmHWM')) - before;
  const statuses: Record<number, number> = {};
  for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return { grownBy, statuses };
}

/** A push of this length with nothing in it that anybody reads. */
function bodyOf(bytes: number): Buffer {
  const parts = ['{"ref":"refs/heads/main","repository":{"full_name":"acme/gitops"},"padding":"', '"}'];
  return Buffer.from(parts.join('x'.repeat(bytes - parts.join('').length)));
}

interface Request {
  readonly url: string;
  readonly body: Buffer;
  readonly signature: string;
  readonly id: string;
}

/** The status of the answer; 0 where the connection was closed without one. */
async function sendOne({ url, body, signature, id }: Request): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  // A server that does not want more closes the connection while it is written to, which is an error here.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const headers = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${hostname}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'x-github-event: push',
    `x-github-delivery: ${id}`,
    `x-hub-signature-256: ${signature}`,
    'connection: close',
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  await closed;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}

async function residentBytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}

/** From now on VmHWM is the most that the process takes from now on (Linux). */
async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}
