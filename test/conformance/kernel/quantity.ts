/** The cases of apimachinery's Quantity. */
import * as z from 'zod';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  quantityOf,
  roundUp,
  scaledValue,
  subtractQuantities,
} from '../../../domain/kernel/quantity.ts';
import { type Adapter, adapter, UnknownShape } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { ceilOf, exactValues, nanoOfDecimal } from './exact-decimal.ts';

const pair = z.strictObject({ a: z.string(), b: z.string() });
const text = z.string();

const parts = z
  .strictObject({
    string: text,
    format: text,
    exactDecimal: text,
    valueCeil: text,
    milliValueCeil: text,
    canonicalAfterArithmetic: text,
  })
  .partial();

function parsed(text: string): unknown {
  const quantity = parseQuantity(text);
  return {
    string: quantity.spelling ?? formatQuantity(quantity),
    format: quantity.format,
    exactDecimal: `${quantity.nano}n`,
    valueCeil: `${scaledValue(quantity, 0)}`,
    milliValueCeil: `${scaledValue(quantity, -3)}`,
    canonicalAfterArithmetic: formatQuantity(addQuantities(quantity, quantityOf(0n))),
  };
}

/** The same in every key that is expected; the exact decimal by its value, however many zeros Go happens to print. */
function sameParsed(expected: unknown, got: unknown): boolean {
  const { exactDecimal, ...rest } = parts.parse(expected);
  const exact = exactDecimal === undefined ? {} : { exactDecimal: `${nanoOfDecimal(exactDecimal)}n` };
  return sameExpectedKeys({ ...rest, ...exact }, got);
}

const NANO_DIGITS = 9;

/** unscaled × 10^exponent as a quantity of that format; what is below a nano is rounded away from zero, as Kubernetes does. */
function scaledQuantity(unscaled: bigint, exponent: number, format: Quantity['format']): Quantity {
  const shift = exponent + NANO_DIGITS;
  return { nano: shift >= 0 ? unscaled * 10n ** BigInt(shift) : ceilOf(unscaled, 10n ** BigInt(-shift)), format };
}

/** The power of ten that a decimal suffix stands for. */
function suffixExponent(suffix: string): number {
  const index = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix);
  if (index < 0) throw new UnknownShape(`suffix ${suffix}`);
  return index * 3 - NANO_DIGITS;
}

function errorOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof QuantityError) {
      return { error: error.message };
    }
    throw error;
  }
}

/** A JSON value of a quantity: a text or a bare number, with spaces around it, or null. */
function decoded(json: string): unknown {
  const text = json.trim() === 'null' ? '0' : json.replace(/^"(.*)"$/s, '$1').trim();
  const quantity = parseQuantity(text);
  return quantity.spelling ?? formatQuantity(quantity);
}

/** A number that Go may print with a suffix or without: `{unscaled, exponent10}` is compared by its value. */
const rounded = z.strictObject({ unscaled: z.string(), exponent10: z.number(), exact: z.boolean() });

export const quantityKinds: Readonly<Record<string, Adapter>> = {
  parse: adapter(text, parts, parsed, sameParsed, [exactValues]),
  parseError: adapter(text, z.strictObject({ error: text }), (written) => errorOf(() => parsed(written)), sameJson),
  format: adapter(
    z.strictObject({
      unscaled: z.string(),
      exponent10: z.number(),
      format: z.enum(['DecimalSI', 'BinarySI', 'DecimalExponent']),
    }),
    z.strictObject({ string: text }),
    ({ unscaled, exponent10, format }) => ({
      string: formatQuantity(scaledQuantity(BigInt(unscaled), exponent10, format)),
    }),
    sameJson,
  ),
  cmp: adapter(pair, z.number(), ({ a, b }) => compareQuantities(parseQuantity(a), parseQuantity(b)), sameJson),
  roundUp: adapter(
    z.strictObject({ quantity: z.string(), scale10: z.number() }),
    rounded,
    ({ quantity, scale10 }) => {
      const exact = parseQuantity(quantity);
      const up = roundUp(exact, scale10);
      return { nano: `${up.nano}`, exact: up.nano === exact.nano };
    },
    (expected, got) => {
      const { unscaled, exponent10, exact } = rounded.parse(expected);
      return sameJson({ nano: `${scaledQuantity(BigInt(unscaled), exponent10, 'DecimalSI').nano}`, exact }, got);
    },
  ),
  scaledValueCeil: adapter(
    z.strictObject({ quantity: z.string(), toSuffix: z.string() }),
    z.union([z.number(), text]),
    ({ quantity, toSuffix }) => `${scaledValue(parseQuantity(quantity), suffixExponent(toSuffix))}`,
    (expected, got) => String(expected) === got,
  ),
  add: adapter(pair, text, ({ a, b }) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b))), sameJson),
  sub: adapter(
    pair,
    text,
    ({ a, b }) => formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b))),
    sameJson,
  ),
  jsonDecode: adapter(text, text, decoded, sameJson),
};
