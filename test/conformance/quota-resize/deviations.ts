/**
 * The rules by which Headroom differs from the resizer that the quota-resize cases were taken from. Each states its own
 * expectation in plain integers, so that the code under test is not its own witness. The reasons: test/cases/deviations.md.
 */
import * as z from 'zod';
import { ceilTo, isQuantity, parseQuantity, quantityOf } from '../../../domain/kernel/quantity.ts';
import type { Deviation } from '../adapter.ts';

const ONE = quantityOf(1n);

/**
 * Whether a quota key counts pieces: told from cpu and bytes by the last part of its name, and extended resources by their
 * domain. (Written apart from the domain's own rule on purpose.)
 */
function countsPieces(resource: string): boolean {
  const parts = resource.split(/[./]/);
  const last = parts.at(-1) ?? '';
  const extended = resource.startsWith('requests.') && resource.includes('/');
  const measured = ['cpu', 'memory', 'storage', 'ephemeral-storage'].includes(last) || last.startsWith('hugepages-');
  return extended || !measured;
}

function isWhole(text: string): boolean {
  return isQuantity(text) && parseQuantity(text).nano % ONE.nano === 0n;
}

/** The expected amount rounded up to a whole number. */
function wholeOf(text: string): string {
  return `${ceilTo(parseQuantity(text), ONE).nano / ONE.nano}`;
}

/** Counts and extended resources are whole, where the other resizer asks for 3600 thousandths of a pod. */
export function wholePieces<Input extends { readonly resource: string }>(): Deviation<Input> {
  return {
    name: 'whole-pieces',
    applies: (input, expected) =>
      typeof expected === 'string' && countsPieces(input.resource) && isQuantity(expected) && !isWhole(expected),
    expected: (_, expected) => wholeOf(z.string().parse(expected)),
  };
}

/** Extended resources are countable. */
export const extendedIsCountable: Deviation<{ readonly resource: string }> = {
  name: 'whole-pieces',
  applies: (input, expected) => expected === false && countsPieces(input.resource),
  expected: () => true,
};

const decision = z.strictObject({
  needsResize: z.boolean(),
  targets: z.record(z.string(), z.string()),
  triggers: z.array(z.string()),
});

export interface DecideInput {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly deficit?: Readonly<Record<string, string>> | undefined;
  readonly hard: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
}

const nanoOf = (text: string | undefined) => parseQuantity(text ?? '0').nano;

/** A percentage of an annotation in hundredths of a percent, as `90`, `90%` or `12.5%`; undefined when it is neither. */
function hundredths(text: string | undefined): bigint | undefined {
  const match = /^([0-9]+)(?:\.([0-9]{1,2}))?%?$/.exec(text ?? '');
  return match === null ? undefined : BigInt((match[1] ?? '0') + (match[2] ?? '').padEnd(2, '0'));
}

/** `cpu` for requests.cpu, the name that annotations have for a family of resources. */
const familyOf = (resource: string) => resource.replace(/^(?:requests|limits)\./, '');

const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** The natural step of a resource in nanos: a milli-core, a mebibyte, a piece. */
function pieceOf(resource: string): bigint {
  if (countsPieces(resource)) {
    return ONE.nano;
  }
  return familyOf(resource) === 'cpu' ? nanoOf('1m') : nanoOf('1Mi');
}

/** The multiple of the largest power (of ten for cpu, of two for bytes) of the natural step that adds at most a twentieth. */
function roundNumber(resource: string, nano: bigint): bigint {
  const piece = pieceOf(resource);
  const base = familyOf(resource) === 'cpu' ? 10n : 2n;
  for (let power = countsPieces(resource) ? 0n : 40n; power > 0n; power -= 1n) {
    const step = piece * base ** power;
    const rounded = ceilDiv(nano, step) * step;
    if (20n * (rounded - nano) <= nano) {
      return rounded;
    }
  }
  return ceilDiv(nano, piece) * piece;
}

/**
 * What unmet demand is raised to: at least by the increment, and so far that the threshold is not reached again when all of
 * it is there. In nanos; `threshold` and `raise` in hundredths of a percent, the latter of the whole.
 */
function settled(resource: string, needed: bigint, threshold: bigint, raise: bigint): bigint {
  const byIncrement = ceilDiv(needed * raise, 10_000n);
  const belowThreshold = (needed * 10_000n) / threshold + 1n;
  return roundNumber(resource, byIncrement > belowThreshold ? byIncrement : belowThreshold);
}

/**
 * The threshold strategy in a few lines of integers: what a case would expect if the rule in question were as Headroom has it.
 */
function decided(input: DecideInput): unknown {
  const targets: Record<string, string> = {};
  const triggers: string[] = [];
  for (const [resource, limit] of Object.entries(input.hard)) {
    const named = (name: string) =>
      hundredths(input.annotations?.[`resizer.io/${resource}-${name}`]) ??
      hundredths(input.annotations?.[`resizer.io/${familyOf(resource)}-${name}`]) ??
      hundredths(input.annotations?.[`resizer.io/${name}`]);
    const threshold = named('threshold') ?? 8000n;
    const raise = 10_000n + (named('increment') ?? 2000n);
    const [hard, used, deficit] = [nanoOf(limit), nanoOf(input.used[resource]), nanoOf(input.deficit?.[resource])];
    const byMetric = hard > 0n && used * 10_000n >= hard * threshold;
    const byEvent = deficit > 0n && used + deficit > hard;
    if (!byMetric && !byEvent) {
      continue;
    }
    const piece = pieceOf(resource);
    const grown = ceilDiv(ceilDiv(hard * raise, 10_000n), piece) * piece;
    targets[resource] = `${byEvent ? settled(resource, used + deficit, threshold, raise) : grown}n`;
    triggers.push(...(byEvent ? [`${resource}:event`] : []), ...(byMetric ? [`${resource}:metric`] : []));
  }
  return { needsResize: triggers.length > 0, targets, triggers };
}

/** `resizer.io/threshold` and `resizer.io/increment` hold for every resource without one of its own. */
export const bareAnnotation: Deviation<DecideInput> = {
  name: 'bare-annotation',
  applies: ({ annotations }) =>
    annotations?.['resizer.io/threshold'] !== undefined || annotations?.['resizer.io/increment'] !== undefined,
  expected: decided,
};

/** "20" is twenty percent, as "20%" is; a fraction such as "0.2" is a fifth of a percent. */
export const percentWithoutSign: Deviation<DecideInput> = {
  name: 'percent-without-sign',
  applies: ({ annotations }) =>
    Object.entries(annotations ?? {}).some(
      ([key, value]) => key.startsWith('resizer.io/') && key.endsWith('-increment') && /^[0-9.]+$/.test(value),
    ),
  expected: decided,
};

/** A deficit that fits into the quota as it is asks for nothing. */
export const fittingDeficit: Deviation<DecideInput> = {
  name: 'fitting-deficit',
  applies: ({ deficit, hard, used }, expected) => {
    const { triggers } = decision.parse(expected);
    return Object.keys(deficit ?? {}).some(
      (resource) =>
        triggers.includes(`${resource}:event`) &&
        nanoOf(used[resource]) + nanoOf(deficit?.[resource]) <= nanoOf(hard[resource]),
    );
  },
  expected: decided,
};

/** Unmet demand is raised until the threshold is out of reach, where the other resizer adds the increment only. */
export const settledBurst: Deviation<DecideInput> = {
  name: 'settle',
  applies: (_, expected) => decision.parse(expected).triggers.some((trigger) => trigger.endsWith(':event')),
  expected: decided,
};

export interface EngineInput {
  readonly incrementFactor: number;
  readonly hard: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
}

/** The same where a case knows targets only, by the demand that its target tells: target = (used + demand) × (1 + factor). */
export const settledEngine: Deviation<EngineInput> = {
  name: 'settle',
  applies: ({ incrementFactor, hard }, expected) =>
    incrementFactor > 0 &&
    Object.entries(z.strictObject({ targets: z.record(z.string(), z.string()) }).parse(expected).targets).some(
      ([resource, target]) => nanoOf(target) * 10_000n > nanoOf(hard[resource]) * raiseOf(incrementFactor),
    ),
  expected: ({ incrementFactor, hard }, expected) => {
    const { targets } = z.strictObject({ targets: z.record(z.string(), z.string()) }).parse(expected);
    const raise = raiseOf(incrementFactor);
    const settle = ([resource, target]: [string, string]): [string, string] => {
      const isDemanded = nanoOf(target) * 10_000n > nanoOf(hard[resource]) * raise;
      const needed = (nanoOf(target) * 10_000n) / raise;
      return [resource, isDemanded ? `${settled(resource, needed, 8000n, raise)}n` : target];
    };
    return { targets: Object.fromEntries(Object.entries(targets).map(settle)) };
  },
};

/** 1 + factor, in hundredths of a percent. */
function raiseOf(incrementFactor: number): bigint {
  return 10_000n + BigInt(Math.round(incrementFactor * 10_000));
}

/** Counts and extended resources of a whole decision. */
export const wholePiecesDecided: Deviation<DecideInput> = {
  name: 'whole-pieces',
  applies: (_, expected) =>
    Object.entries(decision.parse(expected).targets).some(
      ([resource, text]) => countsPieces(resource) && !isWhole(text),
    ),
  expected: (_, expected) => {
    const { targets, ...rest } = decision.parse(expected);
    const whole = Object.entries(targets).map(([resource, text]) => [
      resource,
      countsPieces(resource) ? wholeOf(text) : text,
    ]);
    return { ...rest, targets: Object.fromEntries(whole) };
  },
};

const bodyParts = z.strictObject({ contains: z.array(z.string()) });
const TWO_COLUMNS = /^\| ([^|]+) \| ([^|]+) \|$/;

/** The table of a pull request has more columns than the resource and its new limit. */
export const widerTable: Deviation<unknown> = {
  name: 'wider-table',
  applies: (_, expected) => bodyParts.parse(expected).contains.some((part) => TWO_COLUMNS.test(part)),
  expected: (_, expected) => {
    const { contains } = bodyParts.parse(expected);
    return {
      contains: contains.filter((part) => !TWO_COLUMNS.test(part)),
      rows: contains.flatMap((part) => {
        const [, resource, limit] = TWO_COLUMNS.exec(part) ?? [];
        return resource === undefined || limit === undefined ? [] : [[resource, limit]];
      }),
    };
  },
};
