/** The change of the text that gives a single value another value. */
import { isScalar, type Node } from 'yaml';
import type { Pointer } from './field-path.ts';
import { anchorsOf } from './anchors.ts';
import { type OpenDocument, sourceOf } from './document.ts';
import { ManifestEditError } from './error.ts';
import { insertedPair } from './insert.ts';
import { literal, type LiteralStyle, styleOf } from './literal.ts';
import {
  type Borrowed,
  lineOfPlace,
  type Place,
  placeAt,
  pointerText,
  refuseAliased,
  refuseAmbiguous,
  refuseShared,
} from './location.ts';
import type { Splice } from './splice.ts';

/**
 * @param options.numbers whether a text that is not quoted may turn into a number (`500m` into `1`), which is the same to
 *   Kubernetes where a quantity is read; absent: only where the value is no string now.
 * @throws {ManifestEditError} when the value cannot be changed at this place alone.
 */
export function scalarSplice(
  open: OpenDocument,
  pointer: Pointer,
  value: string,
  options: { readonly numbers?: boolean } = {},
): Splice {
  const place = placeAt(open, pointer);
  if (place === undefined) {
    throw new ManifestEditError(`${pointerText(pointer)} is not in the document`, 'NotAScalar');
  }
  const scalar = anchorsOf(open.document).resolve(place.node);
  if (place.node !== null && !isScalar(scalar)) {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${lineOfPlace(open, place)} is no single value`,
      'NotAScalar',
    );
  }
  const own = styleOf(scalar, open.parsed.json);
  const style = { ...own, numbers: own.numbers || options.numbers === true };
  switch (place.borrowed?.kind) {
    case 'alias':
      return refuseAliased(open, pointer, place.borrowed.alias);
    case 'merge':
      return overridden(open, pointer, { place, borrowed: place.borrowed, written: literal(value, style) });
    default:
      return replaced(open, pointer, place, { value, style });
  }
}

/** A key of the mapping itself, right after the merge that brings the value so far: an own key wins over the merge. */
function overridden(
  open: OpenDocument,
  pointer: Pointer,
  { place, borrowed, written }: { place: Place; borrowed: Borrowed & { kind: 'merge' }; written: string },
): Splice {
  if (borrowed.depth < pointer.length - 1) {
    const whole = pointerText(pointer.slice(0, borrowed.depth + 1));
    throw new ManifestEditError(
      `${pointerText(pointer)} is a part of what the merge key << at line ${lineOfPlace(open, place)} brings; write ${whole} out there to change one value of it`,
      'SharedByAnchor',
    );
  }
  refuseShared(open, pointer, place.containers.slice(0, borrowed.depth + 1));
  refuseAmbiguous(open, pointer, place);
  return insertedPair(open, pointer, borrowed.map, written, { after: borrowed.last });
}

function replaced(
  open: OpenDocument,
  pointer: Pointer,
  place: Place,
  { value, style }: { value: string; style: LiteralStyle },
): Splice {
  const { parsed } = open;
  const { node, pair } = place;
  const line = lineOfPlace(open, place);
  const source = node === null ? '' : sourceOf(parsed, node);
  if (source.includes('\n')) {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${line} goes over several lines; write it in one`,
      'MultiLine',
    );
  }
  // A string tag keeps what follows a string; any other tag may not fit the new text.
  if (isScalar(node) && node.tag !== undefined && node.tag !== 'tag:yaml.org,2002:str') {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${line} has the tag ${node.tag}; take the tag away`,
      'Tagged',
    );
  }
  refuseShared(open, pointer, node === null ? place.containers : [...place.containers, node]);
  refuseAmbiguous(open, pointer, place);
  const written = literal(value, style);
  if (source === '') {
    const colon = colonOf(parsed.part.text, pair?.key);
    if (colon === undefined || (node?.anchor ?? undefined) !== undefined) {
      throw new ManifestEditError(`${pointerText(pointer)} at line ${line} has no value yet; write one`, 'NotAScalar');
    }
    return { open, pointer, start: colon, end: colon, replacement: ` ${written}`, value: written };
  }
  const [start, end] = node?.range ?? [0, 0];
  const tagged = isScalar(node) && node.tag !== undefined;
  return { open, pointer, start, end, replacement: written, value: tagged ? JSON.stringify(value) : written };
}

/** Where the colon of a key ends. */
function colonOf(text: string, key: Node | undefined): number | undefined {
  const end = key?.range?.[1];
  if (end === undefined) {
    return undefined;
  }
  const space = /^[ \t]*:/.exec(text.slice(end, end + 80));
  return space === null ? undefined : end + space[0].length;
}
