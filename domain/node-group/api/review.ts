/** What admission says about a NodeGroup that is to be stored. */
import { fieldsOf, textOf } from '../scheduling/read-pod.ts';
import { readNodeGroup } from './read-node-group.ts';

export interface NodeGroupReview {
  /** Sentences in the form of the API server's, each with what would be right; none where it may be stored. */
  readonly problems: readonly string[];
  /** What is stored all the same, and does not do what it seems to. */
  readonly warnings: readonly string[];
}

/**
 * @param object complete, any part of which may be missing. Never throws.
 * @param old what is stored now; undefined for one that is created.
 */
export function reviewNodeGroup(object: unknown, old: unknown): NodeGroupReview {
  const { problems } = readNodeGroup(object, { mode: 'observe' });
  const spec = fieldsOf(fieldsOf(object)['spec']);
  return {
    problems: [...problems, ...(old === undefined ? [] : providerProblems(spec, fieldsOf(old)))],
    warnings: preferenceWarnings(spec),
  };
}

/** The machines that there are would stay at the provider that made them, and nobody would delete them there. */
function providerProblems(
  spec: Readonly<Record<string, unknown>>,
  old: Readonly<Record<string, unknown>>,
): readonly string[] {
  const [now, before] = [providerOf(spec), providerOf(fieldsOf(old['spec']))];
  const { currentNodes } = fieldsOf(old['status']);
  if (now === before || typeof currentNodes !== 'number' || currentNodes === 0) return [];
  const right = `${JSON.stringify(before)} while the group has ${currentNodes} nodes of it: create another NodeGroup`;
  return [`spec.provider: Invalid value: ${JSON.stringify(now)}: ${right}`];
}

function providerOf(spec: Readonly<Record<string, unknown>>): string {
  return textOf(spec['provider']) || 'vpsie';
}

/** The seed takes the first offering then, and says nothing. */
function preferenceWarnings(spec: Readonly<Record<string, unknown>>): readonly string[] {
  const preferred = textOf(spec['preferredInstanceType']);
  const offerings = Array.isArray(spec['offeringIDs']) ? spec['offeringIDs'] : [];
  if (preferred === '' || offerings.length === 0 || offerings.includes(preferred)) return [];
  return [`spec.preferredInstanceType: ${preferred} is none of offeringIDs, so it is not preferred`];
}
