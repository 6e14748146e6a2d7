/** What of a storage on disk (`-o ext_path=…`) memcached does not start with: extstore_init and storage_check_config of memcached 1.6. */
import { extendedOptions, lastValue, readArguments } from './argument-problems.ts';
import { SERVER_DEFAULTS, type WrittenSpec } from './memcached.ts';
import { leadingInteger, sizeInBytes, textOfSize } from './server-options.ts';

const MEBIBYTE = 1024 * 1024;
/** memcached's own, in MiB: of the buffer through which items are written, and of the pages of a file. */
const DEFAULTS = { ext_wbuf_size: 4, ext_page_size: 64 } as const;
/** Both are multiples of this, in MiB. */
const ALIGNMENT = 2;
/** Numbers of pages have 16 bits. */
const MOST_PAGES = 65_534;
/** Both sizes are counted in 32 bits of bytes. */
const LARGEST_MEBIBYTES = 4095;
const UNITS: Readonly<Record<string, number>> = { m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };

interface Storage {
  /** In MiB. */
  readonly buffer: number;
  readonly page: number;
}

/** Sentences in the form of the API server's, each with what would be right; none without such a storage. */
export function storageProblems({ memcached }: WrittenSpec): readonly string[] {
  const read = readArguments(memcached?.extraArgs ?? []);
  const options = extendedOptions(read);
  const paths = options.filter((option) => option.startsWith('ext_path='));
  if (paths.length === 0) return [];
  const storage = { buffer: lastSize(options, 'ext_wbuf_size'), page: lastSize(options, 'ext_page_size') };
  const firstPath = options.indexOf(paths[0] ?? '');
  const lastPage = options.findLastIndex((option) => option.startsWith('ext_page_size='));
  const datagrams = lastValue(read, 'U');
  return [
    ...(lastPage > firstPath ? [refused(`-o ${options[lastPage]}`, 'ext_page_size before ext_path')] : []),
    ...paths.flatMap(pathProblem),
    ...tooManyPages(paths, storage),
    ...sizeProblem(options, storage),
    ...itemProblem(memcached, storage),
    ...(datagrams !== undefined && leadingInteger(datagrams) !== 0
      ? [refused(`-U ${datagrams}`, '0 beside ext_path')]
      : []),
  ];
}

function refused(written: string, right: string): string {
  return `spec.memcached.extraArgs: Invalid value: ${JSON.stringify(written)}: memcached does not serve clients with it; it takes ${right}`;
}

function lastOf(options: readonly string[], name: keyof typeof DEFAULTS): string | undefined {
  return options.findLast((option) => option.startsWith(`${name}=`));
}

/** What is no number is refused by itself. */
function lastSize(options: readonly string[], name: keyof typeof DEFAULTS): number {
  const text = lastOf(options, name)?.slice(name.length + 1) ?? '';
  return /^\d+$/.test(text) ? Number(text) : DEFAULTS[name];
}

/** Empty parts do not count. */
function partsOf(path: string): readonly string[] {
  return path
    .slice('ext_path='.length)
    .split(':')
    .filter((part) => part !== '');
}

function pathProblem(path: string): readonly string[] {
  return partsOf(path).length > 1 ? [] : [refused(`-o ${path}`, 'a file with its size, such as /data/file:64G')];
}

function tooManyPages(paths: readonly string[], { page }: Storage): readonly string[] {
  const pages = paths.reduce((sum, path) => {
    const size = partsOf(path)[1] ?? '';
    const mebibytes = leadingInteger(size) * (UNITS[size.at(-1)?.toLowerCase() ?? ''] ?? 0);
    return sum + Math.floor(mebibytes / page);
  }, 0);
  if (pages >= 0 && pages <= MOST_PAGES) return [];
  return [
    refused(`-o ${paths.join()}`, `files of at most ${MOST_PAGES} pages together, each of ext_page_size (${page} MB)`),
  ];
}

function isAligned(size: number): boolean {
  return size > 0 && size <= LARGEST_MEBIBYTES && size % ALIGNMENT === 0;
}

function sizeProblem(options: readonly string[], { buffer, page }: Storage): readonly string[] {
  const [writtenBuffer, writtenPage] = [lastOf(options, 'ext_wbuf_size'), lastOf(options, 'ext_page_size')];
  if (!isAligned(page)) return [refused(`-o ${writtenPage}`, `a multiple of ${ALIGNMENT} (MB)`)];
  if (isAligned(buffer) && page % buffer === 0) return [];
  if (writtenBuffer === undefined) return [refused(`-o ${writtenPage}`, `a multiple of ext_wbuf_size (${buffer})`)];
  const right = `a multiple of ${ALIGNMENT} (MB) of which ext_page_size (${page}) is one`;
  return [refused(`-o ${writtenBuffer}`, `${right}: ${nextBuffer(buffer, page) ?? page}`)];
}

/** The smallest that takes so much. */
function nextBuffer(least: number, page: number): number | undefined {
  for (let size = ALIGNMENT; size <= page; size += ALIGNMENT) if (size >= least && page % size === 0) return size;
  return undefined;
}

/** An item is written through the buffer. */
function itemProblem(memcached: WrittenSpec['memcached'], { buffer, page }: Storage): readonly string[] {
  const added = lastValue(readArguments(memcached?.extraArgs ?? []), 'I');
  const size = added ?? memcached?.maxItemSize ?? SERVER_DEFAULTS.maxItemSize;
  const bytes = sizeInBytes(size);
  if (!isAligned(page) || !isAligned(buffer) || bytes <= buffer * MEBIBYTE) return [];
  const next = nextBuffer(bytes / MEBIBYTE, page);
  const more = next === undefined ? '' : `, or with -o ext_wbuf_size=${next}`;
  const [field, written] = added === undefined ? ['maxItemSize', size] : ['extraArgs', `-I ${added}`];
  return [
    `spec.memcached.${field}: Invalid value: ${JSON.stringify(written)}: memcached writes items to ext_path through a buffer of ext_wbuf_size (${buffer} MB): at most ${textOfSize(buffer * MEBIBYTE)}${more}`,
  ];
}
