import { describe, expect, it } from 'vitest';
import {
  DRAIN_MARK,
  markOf,
  markPatch,
  type NodePatch,
  unmarkPatch,
} from '../../../../domain/node-group/drain/marks.ts';

const DRAIN = 'node-drain/test/uid-1';
const AT = Date.parse('2026-11-23T10:00:00Z');

interface Marked {
  readonly annotations: Readonly<Record<string, string>>;
  readonly isCordoned: boolean;
}

/** As the API server merges a patch. */
function patched(node: Marked, { metadata, spec }: NodePatch): Marked {
  const merged = Object.entries({ ...node.annotations, ...metadata.annotations });
  const annotations = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
  return { annotations, isCordoned: spec === undefined ? node.isCordoned : spec.unschedulable === true };
}

const free: Marked = { annotations: { team: 'a' }, isCordoned: false };
const cordoned: Marked = { ...free, isCordoned: true };

describe('the marks of a drain', () => {
  it('are its owner, the annotations of the VPSie autoscaler, and the cordon, in one patch', () => {
    expect(markPatch(free, DRAIN, AT)).toEqual({
      metadata: {
        annotations: {
          [DRAIN_MARK]: `{"drain":"${DRAIN}","wasCordoned":false,"startedAt":"2026-11-23T10:00:00Z"}`,
          'autoscaler.vpsie.com/drain-start-time': '2026-11-23T10:00:00Z',
          'autoscaler.vpsie.com/drain-status': 'draining',
        },
      },
      spec: { unschedulable: true },
    });
    expect(markOf(patched(free, markPatch(free, DRAIN, AT)))).toEqual({
      drain: DRAIN,
      wasCordoned: false,
      startedAt: AT,
    });
  });

  it.each([
    ['a node that was free', free],
    ['a node that somebody had cordoned before', cordoned],
  ])('leave %s as it was when they are taken back', (_, before) => {
    const marked = patched(before, markPatch(before, DRAIN, AT));
    expect(marked.isCordoned).toBe(true);
    const patch = unmarkPatch(marked, DRAIN);
    expect(patch && patched(marked, patch)).toEqual(before);
  });

  it('are left alone where they are of another drain, or of none', () => {
    expect(unmarkPatch(patched(free, markPatch(free, 'node-drain/test/uid-2', AT)), DRAIN)).toBeNull();
    expect(unmarkPatch(cordoned, DRAIN)).toBeNull();
  });

  it('leave the node as a person has made it who uncordoned it meanwhile', () => {
    const marked = { ...patched(free, markPatch(free, DRAIN, AT)), isCordoned: false };
    expect(unmarkPatch(marked, DRAIN)?.spec).toBeUndefined();
  });

  it.each(['{', 'null', '[]', '{"drain":1}'])('are not read from %s', (text) => {
    expect(markOf({ annotations: { [DRAIN_MARK]: text } })).toBeNull();
  });

  it('keep a cordon of which nobody knows whose it is', () => {
    const annotations = { [DRAIN_MARK]: `{"drain":"${DRAIN}"}` };
    expect(markOf({ annotations })).toEqual({ drain: DRAIN, wasCordoned: true, startedAt: 0 });
    expect(unmarkPatch({ annotations, isCordoned: true }, DRAIN)?.spec).toBeUndefined();
  });
});
