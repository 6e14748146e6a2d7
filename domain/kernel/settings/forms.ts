/** The forms that the values of settings have. */
import { z } from 'zod';
import { DURATION_FORM, parseDuration } from '../duration.ts';
import { parsePercent } from '../percent.ts';
import type { Setting } from './setting.ts';

export const text = z.string();

/** The message of an issue that has nothing to add to `expected`. */
export const NO_REASON = 'Invalid input';

/** A type by its parser, which throws for invalid texts; `expected` is the whole error message. */
export function parsed<Output>(parse: (text: string) => Output): z.ZodType<Output, string> {
  return explained(parse, () => NO_REASON);
}

/** Like `parsed`, for values that can be wrong in several ways: the parser's message is added. */
export function explained<Output>(
  parse: (text: string) => Output,
  reasonOf: (error: unknown) => string = (error) => (error instanceof Error ? error.message : String(error)),
): z.ZodType<Output, string> {
  return text.transform((written, context) => {
    try {
      return parse(written);
    } catch (error) {
      context.addIssue({ code: 'custom', message: reasonOf(error) });
      return z.NEVER;
    }
  });
}

export function matching(form: RegExp): z.ZodType<string, string> {
  return text.regex(form);
}

export function numberBetween(min: number, max: number): z.ZodType<number, string> {
  return text
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
}

export function integerBetween(min: number, max: number): z.ZodType<number, string> {
  return text
    .regex(/^[0-9]+$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** `true` and `false`, also as `1` and `0`, in upper or lower case. */
export const boolean: z.ZodType<boolean, string> = text
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0']))
  .transform((written) => written === 'true' || written === '1');

/** As `boolean`, or one word more. */
export function booleanOr<Word extends string>(word: Word): z.ZodType<boolean | Word, string> {
  return text
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0', word]))
    .transform((written) => (written === word ? word : written === 'true' || written === '1'));
}

// Node's timers hold at most 2^31 - 1 ms (24.8 days) and fire at once above that.
const LONGEST_SPAN_MS = 576 * 3_600_000;

function span(minMs: number): z.ZodType<number, string> {
  return parsed(parseDuration).pipe(z.number().min(minMs).max(LONGEST_SPAN_MS));
}

export function timing(name: string, defaultSpan: string, description: string, least = '10ms') {
  return {
    type: span(parseDuration(least)),
    expected: `${DURATION_FORM}, from ${least} to 576h`,
    description,
    env: `HEADROOM_${name.toUpperCase().replaceAll('-', '_')}`,
    flag: `--${name}`,
    default: defaultSpan,
  } as const satisfies Setting;
}

/**
 * A constant: its default is what it is.
 *
 * @param why why nobody would turn it, a sentence.
 */
export function constant<const S extends Setting & { readonly default: string }>(setting: S, why: string) {
  return { ...setting, constant: { why } };
}

/** Above 0, because 0 % would be reached by every limit or change none. */
export function percentage(max: number): z.ZodType<string, string> {
  return parsed(parsePercent).refine((percent) => Number(percent) > 0 && Number(percent) <= max);
}

/** A host and a port to listen on; port 0 is a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const listenAddress: z.ZodType<ListenAddress, string> = text
  .regex(/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/)
  .transform((written) => {
    const colon = written.lastIndexOf(':');
    return { host: written.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(written.slice(colon + 1)) };
  })
  .pipe(z.object({ host: z.string(), port: z.number().max(65_535) }));

export const httpUrl: z.ZodType<string, string> = explained((written) => {
  const url = new URL(written);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RangeError('it is neither http nor https');
  if (url.username !== '' || url.password !== '') throw new RangeError('it must not carry a user or a password');
  return written.replace(/\/+$/, '');
});

export function splitList(written: string): readonly string[] {
  return written
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export const nameList: z.ZodType<readonly string[], string> = parsed(splitList);

export const PATH = text.min(1);
export const ADDRESS_FORM = 'host:port, such as 127.0.0.1:8081 or 0.0.0.0:8081; port 0 takes a free one';
export const BOOLEAN_FORM = 'true or false';
