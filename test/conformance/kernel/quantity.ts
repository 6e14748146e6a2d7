/** The cases of apimachinery's Quantity. */
import * as z from 'zod';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QuantityError,
  quantityOf,
  roundUp,
  subtractQuantities,
} from '../../../domain/kernel/quantity.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { goDecimalText, goScaledValue, scaledQuantity, suffixExponent } from './go-int64.ts';

const pair = z.object({ a: z.string(), b: z.string() });

function parsed(text: string): unknown {
  const quantity = parseQuantity(text);
  return {
    string: quantity.spelling ?? formatQuantity(quantity),
    format: quantity.format,
    exactDecimal: goDecimalText(text),
    valueCeil: `${goScaledValue(text, 0)}`,
    milliValueCeil: `${goScaledValue(text, -3)}`,
    canonicalAfterArithmetic: formatQuantity(addQuantities(quantity, quantityOf(0n))),
  };
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
const rounded = z.object({ unscaled: z.string(), exponent10: z.number(), exact: z.boolean() });

export const quantityKinds: Readonly<Record<string, Adapter>> = {
  parse: adapter(z.string(), parsed, sameExpectedKeys),
  parseError: adapter(z.string(), (text) => errorOf(() => parsed(text)), sameJson),
  format: adapter(
    z.object({
      unscaled: z.string(),
      exponent10: z.number(),
      format: z.enum(['DecimalSI', 'BinarySI', 'DecimalExponent']),
    }),
    ({ unscaled, exponent10, format }) => ({
      string: formatQuantity(scaledQuantity(BigInt(unscaled), exponent10, format)),
    }),
    sameJson,
  ),
  cmp: adapter(pair, ({ a, b }) => compareQuantities(parseQuantity(a), parseQuantity(b)), sameJson),
  roundUp: adapter(
    z.object({ quantity: z.string(), scale10: z.number() }),
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
    z.object({ quantity: z.string(), toSuffix: z.string() }),
    ({ quantity, toSuffix }) => `${goScaledValue(quantity, suffixExponent(toSuffix))}`,
    (expected, got) => String(expected) === got,
  ),
  add: adapter(pair, ({ a, b }) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b))), sameJson),
  sub: adapter(pair, ({ a, b }) => formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b))), sameJson),
  jsonDecode: adapter(z.string(), decoded, sameJson),
};
