/**
 * How a limit is written where something reads it before Kubernetes does: a template that makes an integer of a value
 * renders 0 for `1Gi` and `3600m`, and Helm refuses what the chart's schema does not allow.
 */
import { ceilTo, parseQuantity, quantityOf } from '../../../../kernel/quantity.ts';
import { type ResourceList, resourceEntries } from '../../../../kernel/resource-list.ts';
import type { ValueConsumer, ValueEdit } from '../../yaml/value-edit.ts';
import { schemaAllows } from '../helm/values-schema.ts';
import type { QuotaLocation, TreeSnapshot } from './location.ts';
import { keyOf } from './value-keys.ts';

const ONE = quantityOf(1n);
/** The values of a chart are JSON to Helm: a greater integer is not exact. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** The limit as it is written there, the same amount; undefined where what reads it takes no spelling of it. */
export function spelledFor({ texts }: Pick<TreeSnapshot, 'texts'>, edit: ValueEdit, limit: string): string | undefined {
  const consumer = edit.kind === 'replace' ? edit.consumer : undefined;
  if (consumer === undefined) return limit;
  const { schema } = consumer;
  const spellings = consumer.isInteger ? integer(limit) : [limit, ...decimal(limit)];
  return spellings.find(
    (text) =>
      schema === undefined || schemaAllows(texts.get(schema.path) ?? '', schema.pointer, asRead(text, consumer)),
  );
}

/**
 * The limits that have to be greater than asked, because what reads them takes whole numbers only. One that nothing can
 * be written for is left out.
 */
export function roundedLimits(tree: TreeSnapshot, location: QuotaLocation, limits: ResourceList): ResourceList {
  const asked = Object.keys(limits);
  return Object.fromEntries(
    resourceEntries(limits).flatMap(([resource, amount]) => {
      const key = keyOf(location, resource, asked);
      const edit = key === undefined ? undefined : location.edits[key];
      if (edit === undefined || spelledFor(tree, edit, limits[resource] ?? '') !== undefined) return [];
      const whole = `${ceilTo(amount, ONE).nano / ONE.nano}`;
      return spelledFor(tree, edit, whole) === undefined ? [] : [[resource, whole]];
    }),
  );
}

/** Why a limit has no spelling there; a clause. */
export function whyUnspelled({ isInteger, schema }: ValueConsumer, limit: string): string {
  return isInteger
    ? `its template makes an integer of it, and of ${limit} that is another amount: take int away there, or have whole numbers with resizer.io/steps`
    : `${schema?.path ?? 'its schema'} is not known to allow ${limit} there`;
}

function integer(limit: string): readonly string[] {
  const { nano } = parseQuantity(limit);
  return nano % ONE.nano === 0n && nano / ONE.nano <= LARGEST ? [`${nano / ONE.nano}`] : [];
}

/** `3600m` is 3.6. */
function decimal(limit: string): readonly string[] {
  const { nano } = parseQuantity(limit);
  const fraction = `${nano % ONE.nano}`.padStart(9, '0').replace(/0+$/, '');
  if (fraction === '') return integer(limit);
  // What every reader of YAML takes for the same number.
  return fraction.length <= 6 && nano < 1_000_000_000n * ONE.nano ? [`${nano / ONE.nano}.${fraction}`] : [];
}

/** A value in quotes stays in quotes. */
function asRead(text: string, { isNumber }: ValueConsumer): string | number {
  return isNumber && /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : text;
}
