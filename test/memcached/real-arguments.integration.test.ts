/** Headroom refuses exactly those arguments with which memcached itself does not start, or does not serve clients. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memcachedSpec, type WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { ownProblems } from '../../domain/memcached/api/own-rules.ts';
import { serverArguments } from '../../domain/memcached/children/arguments.ts';
import { amount } from '../kernel/long.ts';
import { seed } from '../kernel/seed.ts';
import { startProcess, temporaryDirectory } from '../kernel/servers/supervised-process.ts';
import { anyServer } from './any-server.ts';
import { newPodIP, onThisMachine } from './kubelet/addresses.ts';
import { findPrograms, type Program } from './kubelet/programs.ts';

/** Each with the verdict of every value besides; words of one entry belong together. */
const TABLE = `
-t 0|-t -1|-t abc|-t 2|-t 2x|-vt2|-vt 0|--threads=0|--threads 2|--thread=2|-t
-f 1|-f 1.0|-f 0.5|-f abc|-f -1|-f 1.01|-f 1.25x|--slab-growth-factor=1|--slab-growth-factor 1.5
-n 0|-n abc|-n 1|-n 48|--slab-min-size=0|-R 0|-R abc|-R 20|-R 2x|--max-reqs-per-event=0
-B ascii|-B auto|-B binary|-B text|--protocol=foo|-N 0|-N abc|-N 1|--napi-ids=0|--napi_ids=1
-c 0|-c abc|-c -1|-c 1024|--conn-limit=0|-b abc|-b 100|-a 700|-D|-D :|-D ::
-m abc|-m 0|-m 1|-m 3|-m -1|-m 64m|-m64|-mabc|--memory-limit=128|--memory-lim=128|--mem=64|-m
-I 0|-I 1k|-I 600k|-I 2m|-I 33m|-I abc|-I 1M|-I 512K|-I 1025m|--max-item-size=600k|-I 40m -m 80
-p 11211|-p 0011211|-p 11211x|--po=11211|-p 70000|-U 0|-U 70000|-U abc
-A|-M|-C|-F|-X|-W|-v|-vv|-vvv|--verb|--verbose=2|-r|--disable-c|--disable=1|--daemon=1
-h|-i|-V|--help|--version|--license|-Z|--enable-ssl|-x|-q|-G x|--unknown|--port
positional|-- -x|-|--|-o|--extended=foo|--extended modern
-o modern|-o no_modern|-o modern,|-o modern,foo|-o ,modern|-o modern,,no_modern|-o =5|-o hash|-o maxconns_fast=0
-o hashpower|-o hashpower=abc|-o hashpower=11|-o hashpower=12|-o hashpower=13|-o hashpower=20|-o hashpower=33
-t 8 -o hashpower=13|-t 8 -o hashpower=14|-t 2 -o hashpower=12
-o slab_automove|-o slab_automove=2|-o slab_automove=3|-o slab_automove=-1|-o slab_automove=abc
-o slab_automove_ratio|-o slab_automove_ratio=0|-o slab_automove_ratio=0.5|-o slab_automove_ratio=1|-o slab_automove_ratio=1.1
-o slab_automove_window=2|-o slab_automove_window=3|-o tail_repair_time=9|-o tail_repair_time=10
-o hash_algorithm|-o hash_algorithm=md5|-o hash_algorithm=xxh3|-o idle_timeout|-o idle_timeout=60|-o temporary_ttl=abc
-o lru_crawler_sleep=-1|-o lru_crawler_sleep=1000000|-o lru_crawler_sleep=1000001|-o lru_crawler_tocrawl=abc|-o lru_crawler_tocrawl=5
-o hot_lru_pct=0|-o hot_lru_pct=40|-o hot_lru_pct=41|-o hot_lru_pct=80|-o warm_lru_pct=60|-o warm_lru_pct=61|-o hot_lru_pct=60,warm_lru_pct=10
-o hot_max_factor=0|-o hot_max_factor=0.1|-o warm_max_factor=abc|-o slab_chunk_max=512|-o slab_chunk_max=100|-o slab_chunk_max=0
-o slab_chunk_max=512 -I 600k|-o slab_sizes=96-200-1000|-o slab_sizes=96-104|-o slab_sizes=96-105|-o slab_sizes=40|-o slab_sizes=200-96|-o slab_sizes
-o read_buf_mem_limit=abc|-o read_buf_mem_limit=8|-o watcher_logbuf_size=-1|-o slab_automove_freeratio=0.1|-o slab_automove_freeratio=abc
-o ext_item_size=abc|-o ext_item_size=512|-o ext_max_frag=0.8|-o ssl_verify_mode=4|-o ssl_verify_mode=2|-o ssl_min_version=abc|-o ssl_ciphers
-o sock_cookie_id|-o sock_cookie_id=7|-o track_sizes|-o no_track_sizes|-o drop_privileges
`
  .trim()
  .split(/[|\n]/)
  .map((entry) => entry.split(' '));

/** Each after `-o`, with a file for `DATA`. */
const STORAGE = `
DATA:256M DATA DATA: :64M DATA:64MB DATA:x DATA:4095G DATA:4T DATA:-1M DATA:1G:default
`
  .trim()
  .split(' ')
  .map((file) => `ext_path=${file}`);
const SIZES = [
  ...[0, 1, 2, 3, 4, 6, 8, 32, 64, 128, 4096].map((size) => `ext_wbuf_size=${size}`),
  ...[0, 2, 3, 6, 8, 128, 4096].map((size) => `ext_page_size=${size}`),
  'ext_wbuf_size=2,ext_page_size=2',
  'ext_wbuf_size=6,ext_page_size=12',
  'ext_wbuf_size=3,ext_page_size=9',
  'ext_wbuf_size=8,ext_wbuf_size=4',
];

/** Fields and not arguments. */
const FIELDS: readonly WrittenSpec['memcached'][] = [
  ...[1, 2, 4, 8, 16].flatMap((threads) => {
    const least = Math.max(4 * threads + 9, 5 * threads + 3);
    return [
      { threads, maxConnections: least },
      { threads, maxConnections: least - 3 },
    ];
  }),
  { maxItemSize: '600k' },
  { maxItemSize: '32m' },
];

/** It starts in milliseconds. Too slow an answer counts against arguments that Headroom takes, and not for those that it refuses. */
const PATIENCE_MS = 60_000;
const SILENCE_MS = 2000;

let folder: string;
let program: Program;
beforeAll(async () => {
  folder = await temporaryDirectory('arguments');
  await Promise.all([chmod(folder, 0o711), chmod(dirname(folder), 0o711)]);
  program = (await findPrograms(folder)).of('memcached:1.6');
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** In the text protocol and in the binary one: at most one of them is answered. */
const QUESTIONS = [Buffer.from('version\r\n'), Buffer.concat([Buffer.from([0x80, 0x0b]), Buffer.alloc(22)])];

async function answers(host: string, question: Buffer): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port: 11_211 }, () => socket.write(question));
  socket
    .once('data', (data) => resolve(/^VERSION|^\x81/.test(data.toString('latin1'))))
    .on('error', () => resolve(false));
  socket.once('close', () => resolve(false)).setTimeout(500, () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Whether memcached with the arguments of this spec goes on running and answers. */
async function serves(memcached: WrittenSpec['memcached'], patienceMs: number): Promise<boolean> {
  const address = onThisMachine(await newPodIP([11_211]));
  const server = await startProcess({
    name: 'memcached',
    command: program.executable,
    args: program.inNetworkOf(serverArguments(memcachedSpec.parse({ memcached })), address),
    uid: process.getuid?.() === 0 ? program.user : undefined,
    logFile: join(folder, `${address}.log`),
  });
  try {
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await delay(20)) {
      if (server.exit() !== undefined) return false;
      for (const question of QUESTIONS) {
        if (await answers(address, question)) return server.exit() === undefined;
      }
    }
    return false;
  } finally {
    await server.kill();
  }
}

/** Those about which memcached and Headroom do not agree. */
async function disagreements(servers: readonly WrittenSpec['memcached'][]): Promise<readonly string[]> {
  const found: string[] = [];
  const left = [...servers];
  const work = async (): Promise<void> => {
    for (let server = left.pop(); server !== undefined; server = left.pop()) {
      const problems = ownProblems({ memcached: server });
      const isServing = await serves(server, problems.length === 0 ? PATIENCE_MS : SILENCE_MS);
      if (isServing !== (problems.length === 0)) {
        found.push(
          `${JSON.stringify(server)}: memcached ${isServing ? 'serves' : 'does not'}, Headroom: ${problems.join()}`,
        );
      }
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

it('each option by itself', async () => {
  expect(await disagreements([...TABLE.map((extraArgs) => ({ extraArgs })), ...FIELDS])).toEqual([]);
});

it('storage on disk', async () => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  // memcached runs as another user, and locks its file.
  await chmod(disk, 0o777);
  let files = 0;
  const written = (option: string) => option.replaceAll('DATA', () => join(disk, `data-${(files += 1)}`));
  const file = 'ext_path=DATA:256M';
  const options = [
    ...STORAGE,
    'ext_page_size=128,ext_path=DATA:6T',
    ...SIZES.flatMap((size) => [size, `${size},${file}`]),
    `${file},ext_wbuf_size=8`,
    `${file},ext_page_size=128`,
  ].map((option) => ({ extraArgs: ['-o', written(option)] }));
  const items = ['1m', '4m', '4608k', '5m', '8m'].flatMap((maxItemSize) =>
    ['', ',ext_wbuf_size=2', ',ext_wbuf_size=8'].map((size) => ({
      maxItemSize,
      extraArgs: ['-o', written(`${file}${size}`)],
    })),
  );
  const others = [
    { extraArgs: ['-I', '5m', '-o', written(file)] },
    { extraArgs: ['-U', '11211', '-o', written(file)] },
    { extraArgs: ['-U', '0', '-o', written(file)] },
    { maxMemoryMB: 1024, maxItemSize: '5m', extraArgs: ['-o', written('ext_path=DATA:4G')] },
  ];
  expect(await disagreements([...options, ...items, ...others])).toEqual([]);
});

it('any of them together', async () => {
  // Of these the last one counts, so that a wrong one before it does no harm, which Headroom refuses all the same.
  const overridden = /^-[pUmIo]|^--(?:po|mem|max-item|extended)|^--?$/;
  const single = TABLE.filter(
    ([word = '']) => !overridden.test(word) && word !== '-D' && word !== '-t' && word !== '--port',
  );
  const several = fc.array(fc.constantFrom(...single), { minLength: 2, maxLength: 4 });
  const drawn = fc.sample(several, { seed, numRuns: amount({ short: 300, long: 3000 }) });
  expect(await disagreements(drawn.map((entries) => ({ extraArgs: entries.flat() })))).toEqual([]);
});

it('any numbers, beside each other and beside the fields', async () => {
  const drawn = fc.sample(anyServer, { seed, numRuns: amount({ short: 300, long: 3000 }) });
  expect(await disagreements(drawn)).toEqual([]);
  // Else it would say little.
  expect(drawn.filter((memcached) => ownProblems({ memcached }).length === 0).length).toBeGreaterThan(drawn.length / 3);
});
