/** What of a Memcached cannot work, besides what its first implementation refuses. */
import { parseDuration } from '../../kernel/duration.ts';
import { argumentProblems, extendedOptions, lastValue, readArguments } from './argument-problems.ts';
import { storageProblems } from './external-storage.ts';
import { KUBERNETES_RULES } from './kubernetes-rules.ts';
import { leadingInteger, sizeInBytes, textOfSize } from './server-options.ts';
import { isAutoscaled, SERVER_DEFAULTS, type WrittenSpec } from './memcached.ts';

interface OwnRule {
  /** The fields that it is about: while none of them changes, it refuses nothing. */
  readonly about: (spec: WrittenSpec) => unknown;
  readonly problems: (spec: WrittenSpec) => readonly string[];
}

const MEBIBYTE = 1024 * 1024;
/** memcached stores an item in chunks of this size (slab_chunk_max), and takes no other sizes than multiples of it. */
const CHUNK_BYTES = MEBIBYTE / 2;
const LARGEST_ITEM_BYTES = 1024 * MEBIBYTE;
/** Kubernetes' limit for the period of a policy of an autoscaler. */
const LONGEST_PERIOD_MS = 1_800_000;

const RULES: readonly OwnRule[] = [
  {
    about: ({ memcached }) => [
      memcached?.maxItemSize,
      memcached?.maxMemoryMB,
      added(memcached, 'm', 'I'),
      addedChunk(readArguments(memcached?.extraArgs ?? [])),
    ],
    problems: itemSizeProblems,
  },
  {
    about: ({ memcached, security, image }) => [
      memcached?.extraArgs,
      memcached?.threads,
      security?.tls?.enabled,
      image,
    ],
    problems: argumentProblems,
  },
  { about: ({ memcached }) => [memcached?.extraArgs, memcached?.maxItemSize], problems: storageProblems },
  {
    about: ({ memcached }) => [memcached?.maxConnections, memcached?.threads, added(memcached, 'c', 't')],
    problems: connectionProblems,
  },
  {
    about: ({ memcached, security }) => [
      security?.podSecurityContext?.runAsUser,
      security?.containerSecurityContext?.runAsUser,
      added(memcached, 'u'),
    ],
    problems: userProblems,
  },
  { about: ({ autoscaling }) => [autoscaling?.enabled, autoscaling?.maxReplicas], problems: maximumProblems },
  {
    about: ({ autoscaling }) => [autoscaling?.scaleDownOnePodEvery, autoscaling?.behavior?.scaleDown?.policies],
    problems: scaleDownProblems,
  },
  ...KUBERNETES_RULES,
];

/**
 * Sentences in the form of the API server's, each with what would be right.
 *
 * @param old the spec that is stored; absent for a new object.
 */
export function ownProblems(spec: WrittenSpec, old?: WrittenSpec): readonly string[] {
  const isChanged = ({ about }: OwnRule): boolean =>
    old === undefined || JSON.stringify(about(spec)) !== JSON.stringify(about(old));
  return RULES.filter(isChanged).flatMap(({ problems }) => problems(spec));
}

/** What people's arguments say above the fields; null where they say nothing. */
function added(memcached: WrittenSpec['memcached'], ...letters: readonly string[]): readonly (string | null)[] {
  const read = readArguments(memcached?.extraArgs ?? []);
  return letters.map((letter) => lastValue(read, letter) ?? null);
}

/** The suboption with the size of chunks. */
function addedChunk(read: ReturnType<typeof readArguments>): string | undefined {
  return extendedOptions(read).findLast((text) => text.startsWith('slab_chunk_max='));
}

/** memcached does not start with any other size. Arguments of people count above the fields. */
function itemSizeProblems({ memcached }: WrittenSpec): readonly string[] {
  const { maxItemSize = SERVER_DEFAULTS.maxItemSize, maxMemoryMB = SERVER_DEFAULTS.maxMemoryMB } = memcached ?? {};
  if (!/^[0-9]+(k|m)$/.test(maxItemSize)) return [];
  const read = readArguments(memcached?.extraArgs ?? []);
  const [addedMemory, addedSize] = [lastValue(read, 'm'), lastValue(read, 'I')];
  const memory = addedMemory === undefined ? maxMemoryMB : leadingInteger(addedMemory);
  const chunkText = addedChunk(read);
  const chunk = chunkText === undefined ? CHUNK_BYTES : leadingInteger(chunkText.slice('slab_chunk_max='.length));
  const size = sizeInBytes(addedSize ?? maxItemSize);
  // A negative number is a very large one to memcached.
  const half = memory < 0 ? LARGEST_ITEM_BYTES : Math.floor((memory * MEBIBYTE) / 2);
  const largest = Math.floor(Math.min(half, LARGEST_ITEM_BYTES) / chunk) * chunk;
  // What is wrong with the chunk itself is said of its argument.
  if (MEBIBYTE % chunk !== 0 || (size >= Math.max(chunk, 1024) && size <= largest && size % chunk === 0)) return [];
  const memoryField = addedMemory === undefined ? 'maxMemoryMB' : '-m';
  const message =
    largest === 0
      ? `memcached keeps items of ${textOfSize(chunk)} in at least twice as much: ${memoryField} of ${Math.ceil((2 * chunk) / MEBIBYTE)} or more`
      : `memcached takes a multiple of ${textOfSize(chunk)}, and at most half of ${memoryField} (${memory}): ${textOfSize(largest)}`;
  const written =
    addedSize === undefined ? (addedMemory === undefined ? undefined : `-m ${addedMemory}`) : `-I ${addedSize}`;
  return written === undefined
    ? [`spec.memcached.maxItemSize: Invalid value: ${JSON.stringify(maxItemSize)}: ${message}`]
    : [`spec.memcached.extraArgs: Invalid value: ${JSON.stringify(written)}: ${message}`];
}

/**
 * memcached limits its open files to the number of connections, and needs some for its own threads and sockets: with fewer, it does
 * not start. Arguments of people count above the fields.
 */
function connectionProblems({ memcached }: WrittenSpec): readonly string[] {
  const { maxConnections = SERVER_DEFAULTS.maxConnections, threads = SERVER_DEFAULTS.threads } = memcached ?? {};
  const read = readArguments(memcached?.extraArgs ?? []);
  const [addedConnections, addedThreads] = [lastValue(read, 'c'), lastValue(read, 't')];
  const connections = addedConnections === undefined ? maxConnections : leadingInteger(addedConnections);
  const workers = addedThreads === undefined ? threads : leadingInteger(addedThreads);
  // What is no such number at all is said of its argument.
  if (connections < 1 || workers < 1) return [];
  const least = Math.max(4 * workers + 9, 5 * workers + 3);
  if (connections >= least) return [];
  const message = `memcached needs files for itself out of these, with ${workers} threads: at least ${least}`;
  return addedConnections === undefined
    ? [`spec.memcached.maxConnections: Invalid value: ${connections}: ${message}`]
    : [`spec.memcached.extraArgs: Invalid value: ${JSON.stringify(`-c ${addedConnections}`)}: ${message}`];
}

/** As root, memcached wants to be told whom to become. */
function userProblems({ memcached, security }: WrittenSpec): readonly string[] {
  const { containerSecurityContext: container, podSecurityContext: pod } = security ?? {};
  if ((container?.runAsUser ?? pod?.runAsUser) !== 0) return [];
  if (lastValue(readArguments(memcached?.extraArgs ?? []), 'u') !== undefined) return [];
  const path = container?.runAsUser === undefined ? 'podSecurityContext' : 'containerSecurityContext';
  return [
    `spec.security.${path}.runAsUser: Invalid value: 0: memcached does not start as root without -u in extraArgs: 11211 is the user of its image`,
  ];
}

/** The definition asks for it; that of another release may not. */
function maximumProblems(spec: WrittenSpec): readonly string[] {
  if (!isAutoscaled(spec) || spec.autoscaling?.maxReplicas !== undefined) return [];
  return ['spec.autoscaling.maxReplicas: Required value: maxReplicas is required when autoscaling is enabled'];
}

function scaleDownProblems({ autoscaling }: WrittenSpec): readonly string[] {
  const every = autoscaling?.scaleDownOnePodEvery;
  if (every === undefined) return [];
  const invalid = (message: string): string =>
    `spec.autoscaling.scaleDownOnePodEvery: Invalid value: ${JSON.stringify(every)}: ${message}`;
  const ms = parseDuration(every);
  return [
    ...(ms < 1000 || ms > LONGEST_PERIOD_MS || ms % 1000 !== 0
      ? [invalid('an autoscaler takes whole seconds, from 1s to 30m')]
      : []),
    ...(autoscaling?.behavior?.scaleDown?.policies === undefined
      ? []
      : [invalid('behavior.scaleDown.policies say already how fast: leave one of them out')]),
  ];
}
