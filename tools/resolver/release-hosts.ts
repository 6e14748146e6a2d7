import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { downloadSettings, withoutSecret } from './download-settings.ts';
import type { Environment } from './go-build.ts';

/** Why a release file cannot be had, in words that fit into a sentence. */
export class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed';
}

/** The connection ended before the answer did, or the host has too much to do: in a moment it may be otherwise. */
class Hiccup extends DownloadFailed {}

/** Nothing came for too long. Another request would wait for as long again. */
class Silence extends DownloadFailed {}

/** Milliseconds until a request that had a hiccup is repeated, once: a build takes minutes. */
const MOMENT = 1000;

/** Bytes: a list of checksums has some hundred. */
const LONGEST_TEXT = 1024 * 1024;
/** Bytes: the largest server has a tenth of it. */
const LONGEST_FILE = 1024 ** 3;

/** As many as fetch would follow by itself. */
const MOST_REDIRECTS = 20;

/** Origins of which this process knows that they say nothing: each further file would wait for as long again. */
const silentOrigins = new Set<string>();

/** Beside a file that is not complete: what it is a part of. */
const validatorOf = (file: string): string => `${file}.validator`;

/** The hosts that releases lie on, as they are reached from here: through the proxy of the environment, or at a mirror. */
export class ReleaseHosts {
  readonly #mirror: string | undefined;
  readonly #silence: number;
  readonly #longest: number;
  readonly #agent: EnvHttpProxyAgent;

  /**
   * @param environment with HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in small letters as well, and what `downloadSettings` reads.
   * @param longest bytes of a file.
   * @throws DownloadFailed for a proxy that cannot be used; ServerUnavailable for a setting that cannot.
   */
  constructor(environment: Environment, longest = LONGEST_FILE) {
    this.#longest = longest;
    const { mirror, silence } = downloadSettings(environment);
    this.#mirror = mirror;
    this.#silence = silence;
    const proxy = (name: string): string => environment[name.toLowerCase()] ?? environment[name] ?? '';
    const [httpProxy, httpsProxy, noProxy] = [proxy('HTTP_PROXY'), proxy('HTTPS_PROXY'), proxy('NO_PROXY')];
    for (const [name, value] of Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy })) {
      if (value !== '' && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
        throw new DownloadFailed(
          `${name} is "${withoutSecret(value)}", and has to be a URL such as http://proxy.example:3128`,
        );
      }
    }
    // Silence is watched below, over everything from the name of the host to the last byte.
    const connect = { timeout: silence };
    this.#agent = new EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy, connect, headersTimeout: 0, bodyTimeout: 0 });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Where a file of a release is asked for here. */
  addressOf(url: string): string {
    return this.#mirror === undefined ? url : `${this.#mirror}/${url.replace(/^https:\/\//, '')}`;
  }

  /** @throws DownloadFailed when it cannot be had, or is too long for a text. */
  async text(url: string): Promise<string> {
    const ask = async (): Promise<string> =>
      await this.#ask(url, {}, async (response, from, chunks) => {
        if (response.status !== 200) throw refusal(from, response);
        const read: Uint8Array[] = [];
        let length = 0;
        for await (const chunk of chunks) {
          length += chunk.length;
          if (length > LONGEST_TEXT) throw new DownloadFailed(`${from} is longer than ${LONGEST_TEXT} bytes`);
          read.push(chunk);
        }
        return Buffer.concat(read).toString('utf8');
      });
    return await againAfterHiccup(ask);
  }

  /**
   * Downloads a file, or what is missing of it from an earlier time, and goes on where a connection is cut, for as long as
   * every attempt brings some of it.
   *
   * @param onBytes told how many bytes are there, and of how many, where the host says so.
   * @returns whether it was put together from several answers.
   * @throws DownloadFailed when it cannot be had. What has come is kept for the next time, unless it can never be of use.
   */
  async file(url: string, file: string, onBytes: (have: number, of: number | undefined) => void): Promise<boolean> {
    for (;;) {
      const before = await sizeOf(file);
      try {
        return await againAfterHiccup(async () => await this.#rest(url, file, await sizeOf(file), onBytes));
      } catch (error) {
        const mayGoOn = error instanceof Hiccup || error instanceof Silence;
        if (!mayGoOn || (await sizeOf(file)) <= before) throw error;
      }
    }
  }

  /** Whether the answer went on with what was there. */
  async #rest(url: string, file: string, have: number, onBytes: (have: number, of?: number) => void): Promise<boolean> {
    const validator = have === 0 ? '' : await readFile(validatorOf(file), 'utf8').catch(() => '');
    const range = validator === '' ? {} : { range: `bytes=${have}-`, 'if-range': validator };
    const wentOn = await this.#ask(url, range, async (response, from, chunks) => {
      const goesOn = response.status === 206;
      if (response.status === 416 || (goesOn && !startsAt(response, have))) {
        // There are more bytes here than there, or it sends others: what is here is of no use.
        await rm(file, { force: true });
        return undefined;
      }
      if (!goesOn && response.status !== 200) throw refusal(from, response);
      const handle = await onDisk(file, open(file, goesOn ? 'a' : 'w'));
      try {
        await onDisk(file, writeFile(validatorOf(file), strongValidator(response)));
        let size = goesOn ? have : 0;
        const length = response.headers.get('content-length');
        const total = length === null ? undefined : size + Number(length);
        const count = async (bytes: number): Promise<void> => {
          size += bytes;
          if (Math.max(size, total ?? 0) > this.#longest) {
            await rm(file);
            throw new DownloadFailed(`${from} is longer than ${this.#longest} bytes`);
          }
          onBytes(size, total);
        };
        await count(0);
        for await (const chunk of chunks) {
          await onDisk(file, handle.writeFile(chunk));
          await count(chunk.length);
        }
      } finally {
        await handle.close();
      }
      return goesOn;
    });
    if (wentOn !== undefined) return wentOn;
    if (have === 0)
      throw new DownloadFailed(`${this.addressOf(url)} is answered with parts of it that were not asked for`);
    return await this.#rest(url, file, 0, onBytes);
  }

  async #ask<Result>(
    url: string,
    headers: Readonly<Record<string, string>>,
    read: (response: Response, from: string, chunks: AsyncIterable<Uint8Array>) => Promise<Result>,
  ): Promise<Result> {
    const first = new URL(this.addressOf(url));
    let at = first;
    // Where redirects lead to has a signature in its query, and more of it would help nobody.
    const from = (): string => (at === first ? first.href : `${first.href} (at ${at.origin})`);
    const silence = (): Silence => new Silence(`${at.origin} did not answer for ${this.#silence / 1000} s`);
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(silence()), this.#silence);
    let hasAnswered = false;
    async function* chunksOf(response: Response): AsyncIterable<Uint8Array> {
      for await (const chunk of response.body ?? []) {
        timer.refresh();
        yield chunk as Uint8Array;
      }
    }
    try {
      for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
        if (silentOrigins.has(at.origin)) throw silence();
        const response = await fetch(at, {
          dispatcher: this.#agent,
          signal: silent.signal,
          redirect: 'manual',
          // Bytes are counted, and continued, as they lie on the host.
          headers: { 'accept-encoding': 'identity', ...headers },
        });
        timer.refresh();
        const next = redirectOf(response, at);
        if (next === undefined) {
          hasAnswered = true;
          return await read(response, from(), chunksOf(response));
        }
        if (next.protocol !== 'https:' && next.protocol !== at.protocol) {
          throw new DownloadFailed(
            `${from()} leads to ${next.protocol}//${next.host}, which is refused: it is not https`,
          );
        }
        await response.body?.cancel();
        at = next;
      }
      throw new DownloadFailed(`${first.href} is redirected more than ${MOST_REDIRECTS} times`);
    } catch (error) {
      if (error instanceof DownloadFailed && error !== silent.signal.reason) throw error;
      if (silent.signal.aborted) {
        if (!hasAnswered) silentOrigins.add(at.origin);
        throw silent.signal.reason;
      }
      throw new Hiccup(`${from()}: ${reasonOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

async function againAfterHiccup<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Hiccup)) throw error;
    await delay(MOMENT);
    return await ask();
  }
}

/** @throws DownloadFailed in the file system's words, for which no host is to blame. What is there of the file is removed. */
async function onDisk<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    await rm(file, { force: true });
    throw new DownloadFailed(`${file} cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

function redirectOf({ status, headers }: Response, at: URL): URL | undefined {
  const location = headers.get('location');
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  const next = URL.parse(location, at.href);
  // fetch sends neither, and says them in its error.
  if (next !== null) next.username = next.password = '';
  return next ?? undefined;
}

function refusal(from: string, { status, statusText }: Response): DownloadFailed {
  const isPassing = status === 429 || status >= 500;
  return new (isPassing ? Hiccup : DownloadFailed)(`${from} is answered with ${status} ${statusText}`.trimEnd());
}

function startsAt(response: Response, have: number): boolean {
  return response.headers.get('content-range')?.startsWith(`bytes ${have}-`) === true;
}

/** What `If-Range` may name: an ETag that vouches for every byte, or a date; empty where the host gives neither. */
function strongValidator({ headers }: Response): string {
  const etag = headers.get('etag');
  return etag?.startsWith('"') === true ? etag : (headers.get('last-modified') ?? '');
}

async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** fetch says "fetch failed", and what it was in the cause; several addresses that failed have a code and no message. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
