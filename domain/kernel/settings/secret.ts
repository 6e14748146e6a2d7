/** The symbol of Node's `inspect`; the domain imports nothing of Node. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');
const HIDDEN = '[secret]';

/**
 * A value that log lines, JSON, template strings and `inspect` do not show: only `reveal()` returns it, so every use of
 * a secret can be found by that name.
 */
export class Secret<T = string> {
  readonly #read: () => T;

  /** @param read called at every `reveal()`, so that a rotated secret takes effect. */
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
 * A secret in a file, read again at every `reveal()`: an expired token is replaced by writing the file, as Kubernetes
 * does with a mounted Secret. While the file is missing, empty or invalid (during a rotation), the last valid value is
 * used. White space around the value is removed.
 *
 * @param check throws for an invalid value, without showing it.
 * @throws {Error} when the file cannot be read, is empty or invalid at the first read.
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
      // The last value is kept: a request with the old token gets a clear 401, a request without a token does not.
    }
    return last;
  });
}
