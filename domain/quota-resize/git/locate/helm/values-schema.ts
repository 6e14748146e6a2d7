/**
 * What a chart's `values.schema.json` allows as one value. Helm checks the values by it before it renders anything, and
 * fails where they do not fit.
 */
import type { Pointer } from '../../yaml/field-path.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Deeper or longer than any chart's; a reference may lead to itself. */
const MAX_DEPTH = 32;
const MAX_PATTERN = 200;

/** Keywords below which there are alternatives that other values decide about as well. */
const ALTERNATIVES = ['anyOf', 'oneOf'] as const;
/** Keywords that are not followed. */
const UNFOLLOWED = ['$dynamicRef', '$recursiveRef', 'dependencies', 'dependentSchemas', 'unevaluatedProperties'];

/**
 * Whether the schema allows the value; false also where it says so in a way that is not followed, or is not JSON.
 *
 * @param pointer below `.Values`.
 */
export function schemaAllows(text: string, pointer: Pointer, value: string | number): boolean {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return false;
  }
  return new Check(root, value).allows(root, pointer, 0) === true;
}

/** True or false where it is known; undefined where it depends on other values, or is not followed. */
type Verdict = boolean | undefined;

class Check {
  readonly #root: unknown;
  readonly #value: string | number;

  constructor(root: unknown, value: string | number) {
    this.#root = root;
    this.#value = value;
  }

  allows(schema: unknown, pointer: Pointer, depth: number): Verdict {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
    const below = (part: unknown): Verdict => this.allows(part, pointer, depth + 1);
    const [step, ...rest] = pointer;
    return all([
      ...UNFOLLOWED.filter((keyword) => keyword in schema).map(() => undefined),
      ...('$ref' in schema ? [below(this.#referred(schema['$ref']))] : []),
      ...partsOf(schema['allOf']).map(below),
      ...ALTERNATIVES.filter((keyword) => keyword in schema).map((keyword) =>
        oneIs(partsOf(schema[keyword]).map(below), { isOnly: keyword === 'oneOf', isLeaf: step === undefined }),
      ),
      ...('if' in schema
        ? [isKnown(['if', 'then', 'else'].flatMap((key) => (key in schema ? [below(schema[key])] : [])))]
        : []),
      ...('not' in schema ? [step === undefined ? negated(below(schema['not'])) : undefined] : []),
      ...(step === undefined
        ? [this.#fits(schema)]
        : childrenOf(schema, step).map((child) => this.allows(child, rest, depth + 1))),
    ]);
  }

  /** The part of the schema that a reference names; undefined for one of another file. */
  #referred(reference: unknown): unknown {
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
    return reference
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (node, step) => (isObject(node) && Object.hasOwn(node, step) ? node[step] : undefined),
        this.#root,
      );
  }

  /** Whether the value itself is what the keywords of one schema ask for. */
  #fits(schema: Schema): Verdict {
    const value = this.#value;
    const { type, enum: values, pattern } = schema;
    const number = (keyword: string): number | undefined => {
      const bound = schema[keyword];
      return typeof bound === 'number' && typeof value === 'number' ? bound : undefined;
    };
    const length = (keyword: string): number | undefined => {
      const bound = schema[keyword];
      return typeof bound === 'number' && typeof value === 'string' ? bound : undefined;
    };
    // Bounds of numbers say nothing about a text.
    const amount = typeof value === 'number' ? value : 0;
    return all([
      type === undefined || [type].flat().some((name) => isOfType(value, name)),
      !Array.isArray(values) || values.includes(value),
      !('const' in schema) || schema['const'] === value,
      typeof pattern !== 'string' || typeof value !== 'string' || matches(pattern, value),
      amount >= (number('minimum') ?? amount),
      amount <= (number('maximum') ?? amount),
      amount > (number('exclusiveMinimum') ?? Number.NEGATIVE_INFINITY),
      amount < (number('exclusiveMaximum') ?? Number.POSITIVE_INFINITY),
      number('multipleOf') === undefined || amount % (number('multipleOf') ?? 1) === 0,
      `${value}`.length >= (length('minLength') ?? 0),
      `${value}`.length <= (length('maxLength') ?? Number.POSITIVE_INFINITY),
    ]);
  }
}

/** The schemas of a key, or of an item of a list. */
function childrenOf(schema: Schema, step: string | number): readonly unknown[] {
  if (typeof step === 'number') {
    const { items, prefixItems } = schema;
    const own: unknown = [prefixItems, items].flatMap((list) =>
      Array.isArray(list) ? [list[step] as unknown] : [],
    )[0];
    return own === undefined ? (items === undefined || Array.isArray(items) ? [] : [items]) : [own];
  }
  const { properties, patternProperties, additionalProperties } = schema;
  const own = isObject(properties) && Object.hasOwn(properties, step) ? [properties[step]] : [];
  const byPattern = Object.entries(isObject(patternProperties) ? patternProperties : {}).flatMap(([pattern, child]) => {
    const isOf = matches(pattern, step);
    return isOf === false ? [] : [isOf === true ? child : undefined];
  });
  const named = [...own, ...byPattern];
  return named.length > 0 || additionalProperties === undefined ? named : [additionalProperties];
}

function isOfType(value: string | number, type: unknown): boolean {
  if (typeof value === 'string') return type === 'string';
  return type === 'number' || (type === 'integer' && Number.isInteger(value));
}

/** Undefined for a pattern that is none here, or is longer than anybody writes. */
function matches(pattern: string, text: string): Verdict {
  if (pattern.length > MAX_PATTERN) return undefined;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

function all(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return isKnown(verdicts);
}

/** True where each is; which of them counts is not known. */
function isKnown(verdicts: readonly Verdict[]): Verdict {
  return verdicts.every((verdict) => verdict === true) ? true : undefined;
}

/** Alternatives for the value itself are decided; those for something around it only where all of them allow the value. */
function oneIs(
  verdicts: readonly Verdict[],
  { isOnly, isLeaf }: { readonly isOnly: boolean; readonly isLeaf: boolean },
): Verdict {
  if (!isLeaf) return isKnown(verdicts);
  const allowed = verdicts.filter((verdict) => verdict === true).length;
  if (!isOnly && allowed > 0) return true;
  return verdicts.includes(undefined) ? undefined : allowed === 1;
}

function negated(verdict: Verdict): Verdict {
  return verdict === undefined ? undefined : !verdict;
}

function partsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
