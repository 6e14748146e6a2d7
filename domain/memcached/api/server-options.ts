/**
 * The options of memcached 1.6, and what it does not start with, or does not serve clients at port 11211 with. What depends on the
 * files, limits or libraries of a container is left to whoever writes it.
 */

/** What memcached is given, as far as options depend on each other. */
export interface OptionContext {
  readonly threads: number;
  readonly isTls: boolean;
}

/** What would be right, where a value is not; undefined where it is. */
export type Check = (value: string, context: OptionContext) => string | undefined;

export interface ServerOption {
  readonly name: string;
  readonly takesValue: boolean | 'optional';
  readonly check?: Check;
}

/** C's atoi and atof: the number in front, 0 without one. */
export function leadingNumber(text: string): number {
  return Number(/^\s*[+-]?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 0);
}

export function leadingInteger(text: string): number {
  return Math.trunc(leadingNumber(text));
}

const MEBIBYTE = 1024 * 1024;

/** As memcached reads `-I`: with a unit, or bytes. */
export function sizeInBytes(text: string): number {
  const unit = text.at(-1)?.toLowerCase();
  return leadingInteger(text) * (unit === 'm' ? MEBIBYTE : unit === 'k' ? 1024 : 1);
}

/** As `-I` is written. */
export function textOfSize(bytes: number): string {
  if (bytes % 1024 !== 0) return String(bytes);
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE}m` : `${bytes / 1024}k`;
}

const within =
  (least: number, most: number): Check =>
  (value) => {
    const number = leadingInteger(value);
    if (number >= least && number <= most) return undefined;
    return most === Number.POSITIVE_INFINITY ? `a number from ${least} on` : `a number from ${least} to ${most}`;
  };
const atLeast = (least: number): Check => within(least, Number.POSITIVE_INFINITY);
const above =
  (least: number): Check =>
  (value) =>
    leadingNumber(value) > least ? undefined : `a number above ${least}`;
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `one of ${values.join(', ')}`;
const numeric: Check = (value) => (/^\d+$/.test(value) ? undefined : 'a number');
const decimal: Check = (value) => (/^-?\d+(?:\.\d+)?$/.test(value) ? undefined : 'a number');
const filled: Check = (value) => (value === '' ? 'a value' : undefined);
const never =
  (right: string): Check =>
  () =>
    right;

const flag = (name: string, check?: Check): ServerOption => ({
  name,
  takesValue: false,
  ...(check === undefined ? {} : { check }),
});
const valued = (name: string, check?: Check): ServerOption => ({ ...flag(name, check), takesValue: true });

const PORT = 11_211;
const servesAt: Check = (value) =>
  leadingInteger(value) === PORT ? undefined : `${PORT}, where the probes and the Service expect memcached`;

/** By the letter of each. */
export const SERVER_OPTIONS: Readonly<Record<string, ServerOption>> = {
  a: valued('unix-mask'),
  A: flag('enable-shutdown'),
  b: valued('listen-backlog'),
  B: valued('protocol', oneOf('auto', 'ascii', 'binary')),
  c: valued('conn-limit', atLeast(1)),
  C: flag('disable-cas'),
  d: flag('daemon', never('no daemon: the container ends when it leaves the foreground')),
  D: valued('', filled),
  e: valued('memory-file'),
  f: valued('slab-growth-factor', above(1)),
  F: flag('disable-flush-all'),
  h: flag('help', never('nothing that prints and ends')),
  i: flag('license', never('nothing that prints and ends')),
  I: valued('max-item-size'),
  k: flag('lock-memory'),
  l: valued('listen'),
  L: flag('enable-largepages'),
  m: valued('memory-limit'),
  M: flag('disable-evictions'),
  n: valued('slab-min-size', (value) => (leadingInteger(value) === 0 ? 'a number from 1 on' : undefined)),
  N: valued('napi-ids', atLeast(1)),
  o: valued('extended'),
  p: valued('port', servesAt),
  P: valued('pidfile'),
  r: flag('enable-coredumps'),
  R: valued('max-reqs-per-event', atLeast(1)),
  s: valued('unix-socket', never(`no socket of UNIX: with one, memcached does not listen on port ${PORT}`)),
  S: flag('enable-sasl'),
  t: valued('threads', atLeast(1)),
  u: valued('user'),
  // Without a TCP port of its own it takes that of UDP.
  U: valued('udp-port', (value) => (leadingInteger(value) === 0 ? undefined : servesAt(value, NO_CONTEXT))),
  v: { name: 'verbose', takesValue: 'optional' },
  V: flag('version', never('nothing that prints and ends')),
  W: flag('disable-watch'),
  X: flag('disable-dumping'),
  Y: valued('auth-file', filled),
  Z: flag('enable-ssl', (_, { isTls }) =>
    isTls ? undefined : 'security.tls, which mounts the certificate that it needs',
  ),
};
const NO_CONTEXT: OptionContext = { threads: 4, isTls: false };

/** The power of two of the locks of items, by threads; the hash table has to have more entries. */
function lockPower(threads: number): number {
  const most = [3, 4, 5, 11, 21].findIndex((limit) => threads < limit);
  return [10, 11, 12, 13, 14, 15][most === -1 ? 5 : most] ?? 15;
}

const slabSizes: Check = (value) => {
  const sizes = value.split('-').map(leadingInteger);
  const isFine = sizes.every((size, at) => size >= 48 && size <= 524_288 && size > (sizes[at - 1] ?? -9) + 8);
  return isFine ? undefined : 'sizes from 48 to 524288 with dashes between them, each more than 8 above the one before';
};

const FLAGS =
  'maxconns_fast no_maxconns_fast no_hashexpand slab_reassign no_slab_reassign no_slab_automove lru_crawler no_lru_crawler lru_maintainer no_lru_maintainer track_sizes inline_ascii_resp no_inline_ascii_resp no_chunked_items modern no_modern resp_obj_mem_limit drop_privileges no_drop_privileges ext_drop_unread ssl_session_cache ssl_kernel_tls';
const ANY_VALUE = 'temporary_ttl idle_timeout ext_path ssl_chain_cert ssl_key ssl_ciphers ssl_ca_cert sock_cookie_id';
const NUMBERS =
  'watcher_logbuf_size worker_logbuf_size read_buf_mem_limit lru_crawler_tocrawl ext_page_size ext_wbuf_size ext_threads ext_io_depth ext_item_size ext_item_age ext_low_ttl ext_recache_rate ext_compact_under ext_drop_under ext_max_sleep ssl_keyformat ssl_wbuf_size';

function each(names: string, check: Check | null): readonly (readonly [string, Check | null])[] {
  return names.split(' ').map((name) => [name, check]);
}

/** What `-o` takes; null for those that need no value. */
export const EXTENDED_OPTIONS: ReadonlyMap<string, Check | null> = new Map<string, Check | null>([
  ...each(FLAGS, null),
  ...each(ANY_VALUE, () => undefined),
  ...each(NUMBERS, numeric),
  ...each('ext_max_frag slab_automove_freeratio', decimal),
  ...each('hot_lru_pct warm_lru_pct', within(1, 79)),
  ...each('hot_max_factor warm_max_factor', above(0)),
  ['hashpower', (value, { threads }) => within(Math.max(12, lockPower(threads) + 1), 32)(value, NO_CONTEXT)],
  ['slab_automove', within(0, 2)],
  [
    'slab_automove_ratio',
    (value) => (leadingNumber(value) > 0 && leadingNumber(value) <= 1 ? undefined : 'a number above 0, and at most 1'),
  ],
  ['slab_automove_window', atLeast(3)],
  ['tail_repair_time', atLeast(10)],
  ['hash_algorithm', oneOf('jenkins', 'murmur3', 'xxh3')],
  ['lru_crawler_sleep', within(0, 1_000_000)],
  ['slab_sizes', slabSizes],
  [
    'slab_chunk_max',
    (value) => (1_048_576 % leadingInteger(value) === 0 ? undefined : 'bytes that 1 MiB is a multiple of'),
  ],
  ['ssl_verify_mode', (value) => numeric(value, NO_CONTEXT) ?? within(0, 3)(value, NO_CONTEXT)],
  ['ssl_min_version', (value) => numeric(value, NO_CONTEXT) ?? within(0, 3)(value, NO_CONTEXT)],
]);

/** Those that need no value even though one is checked. */
export const OPTIONAL_VALUES: ReadonlySet<string> = new Set(['slab_automove']);

/** Options that other builds and releases of 1.6 have, such as for a proxy or for dropped privileges. */
export const OTHER_BUILDS: ReadonlySet<string> = new Set([
  'proxy_config',
  'proxy_arg',
  'proxy_uring',
  'relaxed_privileges',
  'no_relaxed_privileges',
  'meta_response_old',
]);
