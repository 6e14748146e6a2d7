/** Chooses the spelling of a value so that every YAML 1.1, YAML 1.2 and JSON reader reads the same. */
import { isScalar, parseDocument, Scalar } from 'yaml';

// Every YAML reader takes these for integers, and Kubernetes takes the number or the string for the same quantity. A
// leading zero (octal in YAML 1.1), an exponent, and more digits than an int64 or a double holds must be quoted.
const PLAIN_WHOLE = /^(?:0|[1-9][0-9]{0,17})$/;
const PLAIN_FRACTION = /^(?:0|[1-9][0-9]{0,8})\.[0-9]{1,6}$/;
const PLAIN_SUFFIXED = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[numkMGTPE]|[KMGTPE]i)$/;
// JSON numbers are doubles to most readers: 15 digits are always exact.
const JSON_WHOLE = /^(?:0|[1-9][0-9]{0,14})$/;
// Characters without a special meaning in YAML inside a word, even in flow collections.
const WORD = /^[A-Za-z0-9](?:[A-Za-z0-9._/+-]*[A-Za-z0-9])?$/;

/** The style of the surrounding values. */
export interface LiteralStyle {
  readonly quote: '"' | "'" | '';
  /** Whether a number may be written without quotes, so that readers see a number. */
  readonly numbers: boolean;
  readonly json: boolean;
}

/** The style of a scalar; for an alias, the style of the scalar it refers to. */
export function styleOf(node: unknown, json: boolean): LiteralStyle {
  if (!isScalar(node)) {
    return { quote: '', numbers: true, json };
  }
  const quote = node.type === Scalar.QUOTE_DOUBLE ? '"' : node.type === Scalar.QUOTE_SINGLE ? "'" : '';
  const type = node.tag === undefined ? typeof node.value : 'tagged';
  return { quote, numbers: type !== 'string', json };
}

/** A value as written in the text. */
export function literal(value: string, style: LiteralStyle): string {
  if (style.json) {
    return style.quote === '' && style.numbers && JSON_WHOLE.test(value) ? value : JSON.stringify(value);
  }
  if (style.quote === '' && (style.numbers ? readsPlain(value) || readsAsWord(value) : readsAsWord(value))) {
    return value;
  }
  return style.quote === "'" && isPrintable(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}

/** A key as written in the text. */
export function keyLiteral(key: string, quote: LiteralStyle['quote'], json: boolean): string {
  return literal(key, { quote, numbers: false, json });
}

/** Whether every reader understands the unquoted text as the same quantity. */
function readsPlain(text: string): boolean {
  return PLAIN_WHOLE.test(text) || PLAIN_FRACTION.test(text) || PLAIN_SUFFIXED.test(text);
}

/** Whether every reader understands the unquoted text as a string. */
function readsAsWord(text: string): boolean {
  if (PLAIN_SUFFIXED.test(text)) {
    return true;
  }
  if (!WORD.test(text)) {
    return false;
  }
  return (['1.1', '1.2'] as const).every((version) => {
    const { contents, errors } = parseDocument(text, { version, prettyErrors: false });
    return errors.length === 0 && isScalar(contents) && contents.value === text;
  });
}

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e\u00a0-\u2027\u202a-\ufefe]*$/.test(text);
}
