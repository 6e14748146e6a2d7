/** The bodies that a port receives, within one bound for all of them. */

/** GitHub's payloads about pull requests have 20 to 40 KB. */
const SMALL_BYTES = 64 * 1024;

/** After so long a large body gives way to another. */
const LARGE_MS = 1_000;

/** A body is not received any further. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly reason: 'busy' | 'slow';

  constructor(reason: 'busy' | 'slow') {
    super(reason === 'busy' ? 'too much is received at the moment' : 'the body comes in too slowly');
    this.reason = reason;
  }

  /** Of HTTP. */
  get statusCode(): number {
    return this.reason === 'busy' ? 503 : 408;
  }
}

/** One body that comes in. */
export interface IncomingBody {
  /** @throws {BodyRefused} when it is large, and another has the memory for that, or has taken it over. */
  append(chunk: Buffer): void;
  /** @throws {BodyRefused} when another has taken over its memory. */
  text(): string;
  /** To be called at the end, whatever it was. */
  release(): void;
}

/**
 * The memory for all bodies that come in at the same time: 64 KiB for each, and once as much as the largest may have.
 *
 * It counts what has arrived and not what a client announces, which costs the client nothing. A small body is received
 * whatever others send; a large one waits for nobody, and gives way to another after a second. All memory is used
 * again, so that the bound does not depend on the garbage collector.
 */
export class BodyMemory {
  readonly #largest: number;
  readonly #now: () => number;
  readonly #free: Buffer[] = [];
  #large: { body: Body | null; since: number; readonly memory: Buffer } | null = null;

  /**
   * @param largest the longest body, in bytes.
   * @param now milliseconds from any moment on.
   */
  constructor(largest: number, now: () => number = () => performance.now()) {
    this.#largest = largest;
    this.#now = now;
  }

  open(): IncomingBody {
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(SMALL_BYTES);
    const body: Body = new Body(memory, {
      large: () => this.#largeFor(body),
      release: () => {
        if (this.#large?.body === body) this.#large.body = null;
        this.#free.push(memory);
      },
    });
    return body;
  }

  #largeFor(body: Body): Buffer {
    const large = (this.#large ??= { body: null, since: 0, memory: Buffer.allocUnsafeSlow(this.#largest) });
    if (large.body !== null && this.#now() - large.since < LARGE_MS) throw new BodyRefused('busy');
    large.body?.release();
    large.body = body;
    large.since = this.#now();
    return large.memory;
  }
}

interface MemoryOfBody {
  readonly large: () => Buffer;
  readonly release: () => void;
}

class Body implements IncomingBody {
  readonly #memory: MemoryOfBody;
  /** Null: another body has it. */
  #bytes: Buffer | null;
  #length = 0;

  constructor(small: Buffer, memory: MemoryOfBody) {
    this.#bytes = small;
    this.#memory = memory;
  }

  append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#bytes !== null && this.#length <= SMALL_BYTES && length > SMALL_BYTES) {
      const large = this.#memory.large();
      this.#bytes.copy(large, 0, 0, this.#length);
      this.#bytes = large;
    }
    if (this.#bytes === null || length > this.#bytes.length) throw new BodyRefused('busy');
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  text(): string {
    if (this.#bytes === null) throw new BodyRefused('busy');
    return this.#bytes.toString('utf8', 0, this.#length);
  }

  release(): void {
    if (this.#bytes === null) return;
    this.#bytes = null;
    this.#memory.release();
  }
}
