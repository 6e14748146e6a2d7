/** What is stored in an etcd, straight from it: for taking away in milliseconds what tests have left in a cluster. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Kubernetes keeps everything below this. */
const FIRST = '/registry/';
/** The first key behind all of those. */
const END = '/registry0';
/** etcd takes 128 operations in a transaction. */
const AT_ONCE = 100;

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
}

/** The key-value store of an etcd that listens on a socket of the file system. */
export class EtcdStore {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async keys(): Promise<ReadonlySet<string>> {
    const { kvs = [] } = await this.#ask<RangeAnswer>('range', {
      key: encode(FIRST),
      range_end: encode(END),
      keys_only: true,
    });
    return new Set(kvs.map(({ key }) => decode(key)));
  }

  /** Every key with its value, which is base64. */
  async values(): Promise<ReadonlyMap<string, string>> {
    const { kvs = [] } = await this.#ask<RangeAnswer>('range', { key: encode(FIRST), range_end: encode(END) });
    return new Map(kvs.map(({ key, value = '' }) => [decode(key), value]));
  }

  async put(key: string, value: string): Promise<void> {
    await this.#ask('put', { key: encode(key), value });
  }

  async putAll(values: ReadonlyMap<string, string>): Promise<void> {
    const puts = [...values].map(([key, value]) => ({ request_put: { key: encode(key), value } }));
    for (let from = 0; from < puts.length; from += AT_ONCE) {
      await this.#ask('txn', { success: puts.slice(from, from + AT_ONCE) });
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += AT_ONCE) {
      const success = keys.slice(from, from + AT_ONCE).map((key) => ({ request_delete_range: { key: encode(key) } }));
      await this.#ask('txn', { success });
    }
  }

  async #ask<T>(what: 'range' | 'put' | 'txn', body: object): Promise<T> {
    const content = JSON.stringify(body);
    const answer = await new Promise<string>((resolve, reject) => {
      const asked = request({ socketPath: this.#socketPath, path: `/v3/kv/${what}`, method: 'POST', agent: false });
      asked.once('error', reject);
      asked.once('response', (response) => {
        text(response).then(
          (all) => (response.statusCode === 200 ? resolve(all) : reject(new Error(`etcd answers ${what} with ${all}`))),
          reject,
        );
      });
      asked.end(content);
    });
    return JSON.parse(answer) as T;
  }
}

function encode(key: string): string {
  return Buffer.from(key).toString('base64');
}

function decode(key: string): string {
  return Buffer.from(key, 'base64').toString();
}
