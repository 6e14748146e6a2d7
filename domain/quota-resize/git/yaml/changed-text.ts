/** Makes all changes of one file at once: each part is parsed and verified once, however many values change. */
import { blockSplice } from './block.ts';
import { mappingSplice, sequenceSplices } from './add.ts';
import { OpenStream } from './open.ts';
import { scalarSplice } from './replace.ts';
import { spliced } from './splice.ts';
import type { Pointer } from './field-path.ts';
import type { DocumentLocation } from './value-edit.ts';

/** One change in a document of a file, or of an inline patch of a kustomization. */
export type TextEdit =
  | { readonly kind: 'replace'; readonly at: DocumentLocation; readonly pointer: Pointer; readonly value: string }
  | {
      readonly kind: 'add';
      readonly at: DocumentLocation;
      readonly pointer: Pointer;
      readonly key: string;
      readonly value: string;
    }
  | {
      readonly kind: 'append';
      readonly at: DocumentLocation;
      readonly pointer: Pointer;
      readonly items: readonly string[];
    };

/**
 * The text with all changes.
 *
 * @param linesBefore how many lines of the file precede the text; for line numbers in messages.
 * @throws {ManifestEditError} when a change cannot be made; then none is made.
 */
export function changedText(text: string, edits: readonly TextEdit[], linesBefore = 0): string {
  const inline = Map.groupBy(
    edits.filter(({ at }) => at.inline !== undefined),
    ({ at }) => JSON.stringify(at.inline),
  );
  const own = edits.filter(({ at }) => at.inline === undefined);
  // Appending changes neither indexes nor keys of other nodes, so pointers stay valid from pass to pass.
  return [
    (current: string) => withReplaced(current, own, [...inline.values()], linesBefore),
    (current: string) => withAdded(current, own, linesBefore),
    (current: string) => withAppended(current, own, linesBefore),
  ].reduce((current, pass) => pass(current), text);
}

function withReplaced(
  text: string,
  own: readonly TextEdit[],
  inline: readonly (readonly TextEdit[])[],
  linesBefore: number,
): string {
  const stream = new OpenStream(text, linesBefore);
  const values = own.flatMap((edit) =>
    edit.kind === 'replace'
      ? [scalarSplice(stream.documentOfPart(edit.at.part, edit.at.index), edit.pointer, edit.value)]
      : [],
  );
  const blocks = inline.flatMap((together) => {
    const block = together[0]?.at.inline;
    if (block === undefined) {
      return [];
    }
    const inside = together.map((edit) => ({ ...edit, at: outOfBlock(edit.at) }));
    const open = stream.documentOfPart(block.part, block.index);
    return [blockSplice(open, block.pointer, (inner, before) => changedText(inner, inside, before))];
  });
  return spliced(text, [...values, ...blocks]);
}

function outOfBlock({ inline: _block, ...at }: DocumentLocation): DocumentLocation {
  return at;
}

/** One pass per new key of the same mapping, because each key is inserted after the one before it. */
function withAdded(text: string, own: readonly TextEdit[], linesBefore: number): string {
  let current = text;
  let rest = own.filter((edit) => edit.kind === 'add');
  while (rest.length > 0) {
    const now = [...new Map(rest.toReversed().map((edit) => [locationKey(edit), edit])).values()];
    const stream = new OpenStream(current, linesBefore);
    current = spliced(
      current,
      now.map(({ at, pointer, key, value }) =>
        mappingSplice(stream.documentOfPart(at.part, at.index), pointer, key, value),
      ),
    );
    rest = rest.filter((edit) => !now.includes(edit));
  }
  return current;
}

function withAppended(text: string, own: readonly TextEdit[], linesBefore: number): string {
  const groups = Map.groupBy(
    own.filter((edit) => edit.kind === 'append'),
    locationKey,
  );
  const stream = new OpenStream(text, linesBefore);
  const splices = [...groups.values()].flatMap((together) => {
    const [first] = together;
    return first === undefined
      ? []
      : sequenceSplices(
          stream.documentOfPart(first.at.part, first.at.index),
          first.pointer,
          together.flatMap(({ items }) => items),
        );
  });
  return spliced(text, splices);
}

function locationKey({ at, pointer }: TextEdit): string {
  return JSON.stringify([at.part, at.index, pointer]);
}
