/** `status.inVain` of a NodeGroup: nodes that came for pods which did not get them. */
import { z } from 'zod';
import { formatInstant } from '../../kernel/time.ts';
import type { InVain } from '../model/in-vain.ts';
import { momentOf, textOf } from '../scheduling/read-pod.ts';

export const keptInVain = z.object({
  instanceType: z.string().describe('No more nodes of it are made for such pods, while this entry is there.'),
  kind: z
    .string()
    .describe(
      'A checksum of the namespace and of all that the pods ask of a node; or node/ and the UID of the Node in whose place it came.',
    ),
  pod: z.string().describe('One of the pods, as namespace/name; or the name of that Node.'),
  machine: z.string().describe('The VPSieNode that came for such pods.'),
  time: z.string().describe('When it was clear that no such pod gets it, or that the Node does not go.'),
  lastWaitedTime: z.string().describe('When such a pod, or the Node, waited last, to the hour.'),
  promise: z.string().describe('A checksum of what the instance type and the group promise of a node.'),
  tries: z.int().describe('Of how many nodes in a row that was so.'),
  isFirm: z
    .boolean()
    .describe('Whether it is about the type: otherwise one node alone was no good, and one more is tried.'),
});

export function readInVain(object: Readonly<Record<string, unknown>>): InVain {
  const { tries } = object;
  return {
    instanceType: textOf(object['instanceType']),
    kind: textOf(object['kind']),
    pod: textOf(object['pod']),
    machine: textOf(object['machine']),
    at: momentOf(object['time']),
    waited: momentOf(object['lastWaitedTime']),
    promise: textOf(object['promise']),
    tries: typeof tries === 'number' ? tries : 1,
    isFirm: object['isFirm'] === true,
  };
}

/** As the status has it. */
export function inVainStatus({ at, waited, ...same }: InVain): z.output<typeof keptInVain> {
  return { ...same, time: formatInstant(at), lastWaitedTime: formatInstant(waited) };
}
