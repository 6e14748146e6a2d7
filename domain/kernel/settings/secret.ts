/** What Node's `inspect` asks an object for; the domain imports nothing of Node. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');
const HIDDEN = '[secret]';

/**
 * A value that no log line, JSON document, template string or `inspect` shows: only `reveal()` gives it out, so every
 * place that uses a secret can be found by that word.
 */
export class Secret<T = string> {
  readonly #read: () => T;

  /** @param read is asked at every `reveal()`, so a secret that is rotated while the process runs is followed. */
  constructor(read: () => T) {
    this.#read = read;
  }

  reveal(): T {
    return this.#read();
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [INSPECT](): string {
    return HIDDEN;
  }
}

/**
 * A secret kept in a file, read again at every `reveal()`: an expired token is replaced by writing the file, as
 * Kubernetes does with a mounted Secret. While the file is missing or empty (in the moment of a rotation) the last
 * value that was read is given. White space around the value does not belong to it.
 *
 * @param check throws for a value that is of no use, without showing it: then too the last one is given.
 * @throws {Error} when the file cannot be read, is empty, or its value is of no use, at the very first time.
 */
export function secretFromFile(
  path: string,
  readFile: (path: string) => string,
  check: (value: string) => void = () => {},
): Secret {
  let last = '';
  const read = (): string => {
    const value = readFile(path).trim();
    if (value === '') throw new Error('the file is empty');
    if (value !== last) check(value);
    return value;
  };
  last = read();
  return new Secret(() => {
    try {
      last = read();
    } catch {
      // Kept: a request with the old token gets a clear 401, a request without one does not.
    }
    return last;
  });
}
