import { BlockList, isIP } from 'node:net';

/** One entry of NO_PROXY. */
interface Entry {
  /** Absent: every port. */
  readonly port: number | undefined;
  readonly covers: (host: string) => boolean;
}

/** The whole range of a port. */
const HIGHEST_PORT = 65_535;
const BITS = { 4: 32, 6: 128 } as const;

/**
 * The hosts that are reached without a proxy, as NO_PROXY lists them. The rules are those of Go's programs, so that one
 * value means the same to kubectl, to Argo CD and to Headroom: `example.com` is the name and everything below it,
 * `.example.com` and `*.example.com` only what is below, `10.0.0.0/8` and `fd00::/8` are ranges of addresses, `*` is every
 * host, and each may end in a port. Names are not resolved. What is on this machine is never reached through a proxy.
 */
export class NoProxy {
  /** Entries that can match nothing. */
  readonly unreadable: readonly string[];
  readonly #entries: readonly Entry[];

  /** @param list separated by commas or white space. */
  constructor(list: string) {
    const read = list
      .split(/[,\s]+/)
      .filter((text) => text !== '')
      .map((text) => ({ text, entry: entryOf(text) }));
    this.unreadable = read.filter(({ entry }) => entry === undefined).map(({ text }) => text);
    this.#entries = read.flatMap(({ entry }) => entry ?? []);
  }

  /** @param hostname as a URL has it: an IPv6 address in brackets. */
  covers(hostname: string, port: number): boolean {
    const host = hostname
      .replace(/^\[(.*)\]$/, '$1')
      .replace(/\.$/, '')
      .toLowerCase();
    if (isOfThisMachine(host)) return true;
    return this.#entries.some((entry) => (entry.port === undefined || entry.port === port) && entry.covers(host));
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || holds(loopback, host);
}

function holds(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function entryOf(text: string): Entry | undefined {
  // Without brackets, an IPv6 address has no port: each of its colons is its own.
  const match = /^\[(?<address>[^\]]+)\](?::(?<port>\d+))?$|^(?<host>[^:]+):(?<after>\d+)$/.exec(text)?.groups;
  const port = match?.['port'] ?? match?.['after'];
  if (port !== undefined && (Number(port) === 0 || Number(port) > HIGHEST_PORT)) return undefined;
  const covers = matcherOf((match?.['address'] ?? match?.['host'] ?? text).toLowerCase());
  return covers === undefined ? undefined : { port: port === undefined ? undefined : Number(port), covers };
}

function matcherOf(host: string): Entry['covers'] | undefined {
  if (host === '*') return () => true;
  const [address = '', bits, ...more] = host.split('/');
  const version = isIP(address);
  if (version === 4 || version === 6) {
    const list = new BlockList();
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else if (more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > BITS[version]) return undefined;
    else list.addSubnet(address, Number(bits), family);
    return (given) => holds(list, given);
  }
  const name = host.replace(/^\*(?=\.)/, '').replace(/\.$/, '');
  if (!/^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)) return undefined;
  if (name.startsWith('.')) return (given) => given.endsWith(name);
  return (given) => given === name || given.endsWith(`.${name}`);
}
