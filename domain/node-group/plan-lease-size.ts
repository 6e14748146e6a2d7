/** How much the Lease of plans holds: the part of one group must not keep the others from writing theirs. */
import { listText } from '../kernel/sentence.ts';
import { parseClaims, PLAN_CLAIMS } from './plan-claim.ts';
import { parseWishes, PLAN_WISHES } from './plan-wishes.ts';

type Annotations = Readonly<Record<string, string>>;

/**
 * Of keys and values of all annotations together, in bytes. The API server takes 256 KiB: what is left is for claims that are struck, which
 * are never refused.
 */
export const MOST_BYTES = 192 * 1024;
/** How many groups a sentence names. */
const NAMED = 3;

type Sized =
  /** To be written, without what people have said of the nodes of some groups: those take more than their share. */
  | { readonly kind: 'fits'; readonly annotations: Annotations; readonly dropped: readonly string[] }
  | { readonly kind: 'tooLarge'; readonly detail: string };

/**
 * The annotations as a group may write them. Where they are too large, the wishes of the group whose part is the largest go, as long as
 * that is more than its share: its workflow says so, and tries again. Where that is the group itself, it is refused; so it is where
 * claims take the room, of whose machines nobody would know otherwise.
 */
export function sized(annotations: Annotations, group: string): Sized {
  const dropped: string[] = [];
  let left = annotations;
  while (bytesOf(left) > MOST_BYTES) {
    const parts = partsOf(left);
    const partOf = (of: string): number => parts.get(of) ?? 0;
    const share = MOST_BYTES / Math.max(1, parts.size);
    const wishes = parseWishes(left[PLAN_WISHES]);
    const [largest] = wishes
      .filter((each) => partOf(each.group) > share)
      .toSorted((x, y) => partOf(y.group) - partOf(x.group));
    if (largest === undefined || largest.group === group) return { kind: 'tooLarge', detail: whyFull(annotations) };
    dropped.push(largest.group);
    left = { ...left, [PLAN_WISHES]: JSON.stringify(wishes.filter((each) => each !== largest)) };
  }
  return { kind: 'fits', annotations: left, dropped };
}

/** Why something is not written, with the groups that take most. */
export function whyFull(annotations: Annotations): string {
  const parts = [...partsOf(annotations)].toSorted(([, a], [, b]) => b - a).slice(0, NAMED);
  const most = parts.map(([group, bytes]) => `${group} (${kib(bytes)})`);
  return (
    `the annotations of the Lease of plans would take ${kib(bytesOf(annotations))}, and may take ${kib(MOST_BYTES)}; ` +
    `most is of ${most.length === 0 ? 'somebody else' : listText(most)}`
  );
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}

function bytesOf(annotations: Annotations): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0);
}

/** Of what is known of each group, in bytes. */
function partsOf(annotations: Annotations): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  const { claims } = parseClaims(annotations[PLAN_CLAIMS]);
  for (const each of [...claims, ...parseWishes(annotations[PLAN_WISHES])]) {
    parts.set(each.group, (parts.get(each.group) ?? 0) + Buffer.byteLength(JSON.stringify(each)));
  }
  return parts;
}
