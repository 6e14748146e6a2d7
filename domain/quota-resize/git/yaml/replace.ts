/** Replaces a scalar value in the text. */
import { isScalar, type Node } from 'yaml';
import type { Pointer } from './field-path.ts';
import { anchorsOf } from './anchors.ts';
import { type OpenDocument, sourceOf } from './document.ts';
import { ManifestEditError } from './error.ts';
import { insertedPair } from './insert.ts';
import { literal, type LiteralStyle, styleOf } from './literal.ts';
import {
  type Borrowed,
  lineOfLocation,
  type NodeLocation,
  locationAt,
  pointerText,
  rejectAliased,
  rejectAmbiguous,
  rejectShared,
} from './location.ts';
import type { Splice } from './splice.ts';

/**
 * @param options.numbers whether an unquoted string may become a number (`500m` into `1`), which is the same to
 *   Kubernetes where it reads a quantity; absent: only if the present value is not a string.
 * @throws {ManifestEditError} when the value cannot be changed at this place alone.
 */
export function scalarSplice(
  open: OpenDocument,
  pointer: Pointer,
  value: string,
  options: { readonly numbers?: boolean } = {},
): Splice {
  const location = locationAt(open, pointer);
  if (location === undefined) {
    throw new ManifestEditError(`${pointerText(pointer)} is not in the document`, 'NotAScalar');
  }
  const scalar = anchorsOf(open.document).resolve(location.node);
  if (location.node !== null && !isScalar(scalar)) {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${lineOfLocation(open, location)} is no single value`,
      'NotAScalar',
    );
  }
  const own = styleOf(scalar, open.parsed.json);
  const style = { ...own, numbers: own.numbers || options.numbers === true };
  switch (location.borrowed?.kind) {
    case 'alias':
      return rejectAliased(open, pointer, location.borrowed.alias);
    case 'merge':
      return overridden(open, pointer, { location, borrowed: location.borrowed, written: literal(value, style) });
    default:
      return replaced(open, pointer, location, { value, style });
  }
}

/**
 * Adds a key to the mapping itself, directly after the merge that provides the present value: an own key overrides the
 * merge.
 */
function overridden(
  open: OpenDocument,
  pointer: Pointer,
  { location, borrowed, written }: { location: NodeLocation; borrowed: Borrowed & { kind: 'merge' }; written: string },
): Splice {
  if (borrowed.depth < pointer.length - 1) {
    const whole = pointerText(pointer.slice(0, borrowed.depth + 1));
    throw new ManifestEditError(
      `${pointerText(pointer)} is a part of what the merge key << at line ${lineOfLocation(open, location)} brings; write ${whole} out there to change one value of it`,
      'SharedByAnchor',
    );
  }
  rejectShared(open, pointer, location.containers.slice(0, borrowed.depth + 1));
  rejectAmbiguous(open, pointer, location);
  return insertedPair(open, pointer, borrowed.map, written, { after: borrowed.last });
}

function replaced(
  open: OpenDocument,
  pointer: Pointer,
  location: NodeLocation,
  { value, style }: { value: string; style: LiteralStyle },
): Splice {
  const { parsed } = open;
  const { node, pair } = location;
  const line = lineOfLocation(open, location);
  const source = node === null ? '' : sourceOf(parsed, node);
  if (source.includes('\n')) {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${line} goes over several lines; write it in one`,
      'MultiLine',
    );
  }
  // A value after a string tag stays a string; any other tag may not fit the new text.
  if (isScalar(node) && node.tag !== undefined && node.tag !== 'tag:yaml.org,2002:str') {
    throw new ManifestEditError(
      `${pointerText(pointer)} at line ${line} has the tag ${node.tag}; take the tag away`,
      'Tagged',
    );
  }
  rejectShared(open, pointer, node === null ? location.containers : [...location.containers, node]);
  rejectAmbiguous(open, pointer, location);
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

/** The offset after the colon of a key. */
function colonOf(text: string, key: Node | undefined): number | undefined {
  const end = key?.range?.[1];
  if (end === undefined) {
    return undefined;
  }
  const space = /^[ \t]*:/.exec(text.slice(end, end + 80));
  return space === null ? undefined : end + space[0].length;
}
