import { inVainStatus } from '../../../domain/node-group/api/in-vain.ts';
import { isKindOfNode, stops } from '../../../domain/node-group/model/in-vain.ts';
import { type InVainChange, withChange } from '../../../domain/node-group/status/in-vain-change.ts';
import type { GroupInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';
import { reportOnGroup } from './group-event.ts';
import { patchGroupStatus } from './group-objects.ts';

/** Writes which nodes came in vain, with an Event for each that is the last of its type for some pods. */
export async function writeInVain(options: MachineOptions, input: GroupInput, change: InVainChange): Promise<void> {
  const before = await patchGroupStatus(options, input, ({ read: { group }, status }) => {
    if (group === null) return null;
    const inVain = withChange(group.inVain, change).map(inVainStatus);
    return JSON.stringify(status['inVain'] ?? []) === JSON.stringify(inVain) ? null : { inVain };
  });
  const present = before?.read.group?.inVain ?? [];
  for (const { machine, kind, pod, instanceType } of change.found.filter(stops)) {
    const isKnown = present.some((record) => record.machine === machine && record.kind === kind && stops(record));
    if (before === null || isKnown) continue;
    const message = isKindOfNode(kind)
      ? `${machine} came in place of ${pod}, which has not gone: Headroom makes no other node in its place until it has`
      : `${machine} came for ${pod} in vain: Headroom makes no other node of ${instanceType} for such pods until that changes`;
    await reportOnGroup(options, input, { type: 'Warning', reason: 'CameInVain', message, key: `${machine} ${kind}` });
  }
}
