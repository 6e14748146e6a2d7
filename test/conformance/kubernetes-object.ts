/** Objects of Kubernetes, which are handed on whole: Headroom decides what it reads of them. */
import * as client from '@kubernetes/client-node';
import * as z from 'zod';
import { withoutUnknown } from './unknown-keys.ts';

interface Model {
  readonly getAttributeTypeMap: () => readonly { readonly baseName: string; readonly type: string }[];
}

/** The types of Kubernetes' API by their names, as the client has them. */
const models: Readonly<Record<string, unknown>> = client;

function isModel(value: unknown): value is Model {
  return typeof value === 'function' && 'getAttributeTypeMap' in value;
}

/** The keys that no field of the type has, by their paths. A type is also `Array<V1Container>` or `{ [key: string]: string; }`. */
function undeclared(type: string, value: unknown, path: readonly PropertyKey[]): readonly (readonly PropertyKey[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const [, inner] = /^(?:Array<|\{ \[key: string\]: )(.*?)(?:>|; \})$/.exec(type) ?? [];
  if (inner !== undefined) {
    return Object.entries(value).flatMap(([key, part]) =>
      undeclared(inner, part, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  }
  const { [type]: model } = models;
  if (!isModel(model)) return [];
  const fields = new Map(model.getAttributeTypeMap().map((field) => [field.baseName, field.type]));
  return Object.entries(value).flatMap(([key, part]) => {
    const field = fields.get(key);
    return field === undefined ? [[...path, key]] : undeclared(field, part, [...path, key]);
  });
}

/** An object with no other keys than this type of Kubernetes' API has: `V1Pod`. */
export function kubernetesObject<Shape extends object>(type: string): z.ZodType<Shape, Shape> {
  if (!isModel(models[type])) throw new Error(`Kubernetes has no ${type}`);
  return z
    .custom<Shape>((value) => typeof value === 'object' && value !== null)
    .pipe(withoutUnknown((value: Shape) => undeclared(type, value, [])));
}
