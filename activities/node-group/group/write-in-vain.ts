import { inVainStatus } from '../../../domain/node-group/api/in-vain.ts';
import { type InVain, stops } from '../../../domain/node-group/model/in-vain.ts';
import type { GroupInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';
import { reportOnGroup } from './group-event.ts';
import { patchGroupStatus } from './group-objects.ts';

/** Writes which nodes came in vain, with an Event for each type of which no more are made for some pods. */
export async function writeInVain(
  options: MachineOptions,
  input: GroupInput,
  wanted: readonly InVain[],
): Promise<void> {
  const inVain = wanted.map(inVainStatus);
  const before = await patchGroupStatus(options, input, ({ status }) =>
    JSON.stringify(status['inVain'] ?? []) === JSON.stringify(inVain) ? null : { inVain },
  );
  const known = new Set(
    (before?.read.group?.inVain ?? []).filter(stops).map(({ machine, kind }) => `${machine} ${kind}`),
  );
  for (const record of wanted.filter(stops)) {
    const { machine, kind, pod, instanceType } = record;
    const key = `${machine} ${kind}`;
    if (before === null || known.has(key)) continue;
    const message = `${machine} came for ${pod} in vain: no other node of ${instanceType} is made for such pods while that is so`;
    await reportOnGroup(options, input, { type: 'Warning', reason: 'CameInVain', message, key });
  }
}
