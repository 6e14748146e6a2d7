/** What of the arguments that people add memcached would not start with. */
import { fewProblems } from './few-problems.ts';
import { SERVER_DEFAULTS, type WrittenSpec } from './memcached.ts';
import {
  EXTENDED_OPTIONS,
  leadingNumber,
  type OptionContext,
  OPTIONAL_VALUES,
  OTHER_BUILDS,
  SERVER_OPTIONS,
  type ServerOption,
} from './server-options.ts';

/** An option as memcached reads it. */
interface ReadOption {
  /** As it is written, such as `-t` or `--threads`. */
  readonly shown: string;
  readonly letter: string;
  readonly value: string;
}

interface ReadArguments {
  readonly options: readonly ReadOption[];
  /** Each as the text that it is about, and what would be right. */
  readonly unreadable: readonly (readonly [string, string])[];
}

/**
 * Reads arguments as getopt_long does: letters may stand together, names may be cut short, and what is no option is ignored.
 *
 * @param words without those that Headroom sets; none of these waits for a value.
 */
export function readArguments(words: readonly string[]): ReadArguments {
  const options: ReadOption[] = [];
  const unreadable: (readonly [string, string])[] = [];
  let next = 0;
  const take = (shown: string, letter: string, attached: string | undefined): void => {
    const value = attached ?? words[next++];
    if (value === undefined) unreadable.push([shown, `${shown} needs a value after it`]);
    else options.push({ shown, letter, value });
  };
  for (let word = words[next++]; word !== undefined && word !== '--'; word = words[next++]) {
    if (word.startsWith('--')) readName(word, take, { options, unreadable });
    else if (word.startsWith('-')) readLetters(word.slice(1), take, { options, unreadable });
  }
  return { options, unreadable };
}

type Take = (shown: string, letter: string, attached: string | undefined) => void;

interface Found {
  readonly options: ReadOption[];
  readonly unreadable: (readonly [string, string])[];
}

function readName(word: string, take: Take, { options, unreadable }: Found): void {
  const [, name = '', , value] = /^--([^=]*)(=([^]*))?$/.exec(word) ?? [];
  const shown = `--${name}`;
  const known = Object.entries(SERVER_OPTIONS).filter(
    ([, option]) => option.name !== '' && option.name.startsWith(name),
  );
  const [entry] = known.filter(([, option]) => option.name === name);
  const [letter, option] = entry ?? known[0] ?? [];
  if (letter === undefined || option === undefined) {
    unreadable.push([word, 'an option that memcached knows']);
  } else if (entry === undefined && known.length > 1) {
    unreadable.push([word, `one of ${known.map(([, { name: each }]) => `--${each}`).join(', ')}`]);
  } else if (option.takesValue === true) {
    take(shown, letter, value);
  } else if (option.takesValue === false && value !== undefined) {
    unreadable.push([word, `${shown} without a value`]);
  } else {
    options.push({ shown, letter, value: value ?? '' });
  }
}

function readLetters(letters: string, take: Take, { options, unreadable }: Found): void {
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters.charAt(at);
    const option: ServerOption | undefined = Object.hasOwn(SERVER_OPTIONS, letter) ? SERVER_OPTIONS[letter] : undefined;
    const shown = `-${letter}`;
    if (option === undefined) unreadable.push([shown, 'an option that memcached knows']);
    else if (option.takesValue === true) {
      take(shown, letter, letters.slice(at + 1) || undefined);
      return;
    } else options.push({ shown, letter, value: '' });
  }
}

/** The value of an option, the last of which counts; undefined where it is not given. */
export function lastValue({ options }: ReadArguments, letter: string): string | undefined {
  return options.findLast((option) => option.letter === letter)?.value;
}

/** The suboptions of all `-o`, as `name` or `name=value`. */
export function extendedOptions({ options }: ReadArguments): readonly string[] {
  return options
    .filter(({ letter }) => letter === 'o')
    .flatMap(({ value }) => (value === '' ? [] : value.replace(/,$/, '').split(',')));
}

/** Whether the image is of a release whose options are known. */
function isKnownRelease(image: string | undefined): boolean {
  return image === undefined || /:1\.[0-6](?:\D|$)/.test(image);
}

/** Sentences in the form of the API server's, each with what would be right. */
export function argumentProblems({ memcached, security, image }: WrittenSpec): readonly string[] {
  const words = memcached?.extraArgs ?? [];
  if (words.length === 0) return [];
  const read = readArguments(words);
  const threads = lastValue(read, 't');
  const context: OptionContext = {
    threads: threads === undefined ? (memcached?.threads ?? SERVER_DEFAULTS.threads) : leadingNumber(threads),
    isTls: security?.tls?.enabled === true || extendedOptions(read).some((text) => text.startsWith('ssl_chain_cert=')),
  };
  const isKnown = isKnownRelease(image);
  const found: (readonly [string, string])[] = [
    ...read.unreadable.filter(([, right]) => isKnown || right !== 'an option that memcached knows'),
    ...read.options.flatMap(({ shown, letter, value }) => {
      const right = SERVER_OPTIONS[letter]?.check?.(value, context);
      return right === undefined ? [] : [[value === '' ? shown : `${shown} ${value}`, right] as const];
    }),
    ...extendedOptions(read).flatMap((text) => {
      const right = extendedProblem(text, context, isKnown);
      return right === undefined ? [] : [[`-o ${text}`, right] as const];
    }),
    ...sharesOfMemory(extendedOptions(read)),
  ];
  return fewProblems(
    found.map(
      ([what, right]) =>
        `spec.memcached.extraArgs: Invalid value: ${JSON.stringify(what)}: memcached does not serve clients with it; it takes ${right}`,
    ),
  );
}

function extendedProblem(text: string, context: OptionContext, isKnown: boolean): string | undefined {
  const at = text.indexOf('=');
  const [name, value] = at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  const check = EXTENDED_OPTIONS.get(name);
  if (check === undefined) {
    return OTHER_BUILDS.has(name) || (!isKnown && name !== '') ? undefined : 'a suboption that memcached knows';
  }
  if (check === null) return undefined;
  if (value === undefined) return OPTIONAL_VALUES.has(name) ? undefined : `${name} with a value`;
  return check(value, context);
}

/** memcached's own shares, in per cent. */
const SHARES = { hot_lru_pct: 20, warm_lru_pct: 40 } as const;

function sharesOfMemory(extended: readonly string[]): readonly (readonly [string, string])[] {
  const written = (name: keyof typeof SHARES) => extended.findLast((each) => each.startsWith(`${name}=`));
  const share = (text: string | undefined) =>
    text === undefined ? undefined : leadingNumber(text.slice(text.indexOf('=') + 1));
  const texts = [written('hot_lru_pct'), written('warm_lru_pct')];
  const [hot, warm] = texts.map(share);
  const sum = (hot ?? SHARES.hot_lru_pct) + (warm ?? SHARES.warm_lru_pct);
  const isWrongAlone = [hot, warm].some((each) => each !== undefined && (each < 1 || each > 79));
  if (sum <= 80 || isWrongAlone) return [];
  return [
    [
      `-o ${texts.filter((text) => text !== undefined).join()}`,
      'at most 80 for hot_lru_pct (20 if absent) and warm_lru_pct (40 if absent) together',
    ],
  ];
}
