import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** A machine with all cores busy answers within a second or two. */
const ANSWER_MS = 30_000;

/** A client of memcached's text protocol, on one connection. */
export class TextClient {
  readonly #socket: Socket;
  /** Since the last question. */
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    // What is wrong with a connection is the error of the next question.
    socket.on('error', () => {});
  }

  /**
   * @param tls how, where the connection is to be one with TLS.
   * @throws Error where nobody listens, or the handshake fails.
   */
  static async connect(host: string, tls?: ConnectionOptions, port = 11_211): Promise<TextClient> {
    const [socket, event] =
      tls === undefined
        ? [connectPlain({ host, port }), 'connect']
        : [connectTls({ host, port, ...tls }), 'secureConnect'];
    await once(socket, event, { signal: AbortSignal.timeout(ANSWER_MS) });
    return new TextClient(socket);
  }

  /**
   * Sends lines and waits for what ends the answer.
   * @returns the answer without its last line break.
   * @throws Error where the server closes the connection instead.
   */
  async ask(request: string, end = /^(?:STORED|END|OK|ERROR|[A-Z]+_ERROR .*|VERSION .*)\r\n$/m): Promise<string> {
    this.#received = '';
    if (this.#socket.destroyed) throw new Error('the server closed the connection before');
    this.#socket.write(`${request}\r\n`);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const check = (): void => {
      if (end.test(this.#received)) resolve(this.#received.trimEnd());
    };
    const fail = (why: string) => (): void => reject(new Error(`${why}: it said "${this.#received.slice(0, 200)}"`));
    const onClose = fail('the server closed the connection');
    const timer = setTimeout(fail('the server does not answer'), ANSWER_MS);
    this.#socket.on('data', check).on('close', onClose);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#socket.off('data', check).off('close', onClose);
    }
  }

  async set(key: string, value: string): Promise<string> {
    return await this.ask(`set ${key} 0 0 ${value.length}\r\n${value}`);
  }

  /** The value, or undefined. */
  async get(key: string): Promise<string | undefined> {
    const [, value] = (await this.ask(`get ${key}`)).split('\r\n');
    return value;
  }

  /** `stats`, or those of a subject. */
  async stats(subject = ''): Promise<ReadonlyMap<string, string>> {
    const answer = await this.ask(`stats ${subject}`.trim());
    return new Map([...answer.matchAll(/^STAT (\S+) (.*)\r$/gm)].map(([, key = '', value = '']) => [key, value]));
  }

  close(): void {
    this.#socket.destroy();
  }
}
