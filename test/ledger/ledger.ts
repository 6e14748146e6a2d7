/** What Headroom makes of each field of Kubernetes' objects, by the type of the API that has the field. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import * as z from 'zod';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIELDS = fileURLToPath(new URL('fields/', import.meta.url));

const fields = z.record(z.string(), z.array(z.string())).default({});
const type = z.strictObject({
  /** Where the field is read or written: a file of the product, or several. */
  used: z.record(z.string(), z.union([z.string().transform((file) => [file]), z.array(z.string())])).default({}),
  /** Fields of no consequence, by the reason. What is below them is of none either. */
  unused: fields,
  /** Fields that Kubernetes ignores as long as a feature gate is off, by the gate. None: something else of the type is meant. */
  gated: fields,
  /** All values of fields that are used, where the API has a list of them. */
  values: fields,
});

/** By a type of the API, such as `core.v1.PodSpec`. */
export type Ledger = ReadonlyMap<string, z.infer<typeof type>>;

/** @throws Error where a type is in two files, or a field is twice in its type. */
export function readLedger(): Ledger {
  const ledger = new Map<string, z.infer<typeof type>>();
  for (const file of readdirSync(FIELDS).toSorted()) {
    const types = z.record(z.string(), type).parse(parse(readFileSync(join(FIELDS, file), 'utf8')));
    for (const [name, rows] of Object.entries(types)) {
      if (ledger.has(name)) throw new Error(`${name} is in the ledger twice`);
      const all = fieldsOf(rows);
      const twice = all.find((field, at) => all.indexOf(field) !== at);
      if (twice !== undefined) throw new Error(`${name}.${twice} is in the ledger twice`);
      ledger.set(name, rows);
    }
  }
  return ledger;
}

/** All fields of a type that the ledger has. */
export function fieldsOf({ used, unused, gated }: z.infer<typeof type>): readonly string[] {
  return [...Object.keys(used), ...Object.values(unused).flat(), ...Object.values(gated).flat()];
}
