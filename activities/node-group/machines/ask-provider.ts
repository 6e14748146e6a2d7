import { formatInstant } from '../../../domain/kernel/time.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { GroupInput } from '../interface.ts';
import type { Creation } from '../provider/provider.ts';
import type { GivenUp } from './give-up.ts';
import { writeMachineStatus } from './machine-objects.ts';
import type { MachineOptions } from './options.ts';

const AT_ONCE = 20;

export interface Asked {
  readonly waits: readonly { readonly detail: string; readonly retryAfterMs: number | null }[];
  readonly failed: readonly GivenUp[];
}

/** Asks the provider for machines, and writes what it answered. */
export async function askProvider(
  options: MachineOptions,
  { target }: GroupInput,
  group: NodeGroup,
  machines: readonly DrivenMachine[],
): Promise<Asked> {
  if (machines.length === 0) return { waits: [], failed: [] };
  await options.guard(target);
  const answers = await options.providers[group.provider].ensureCreated(group, machines);
  const answered = machines.flatMap((machine, at) => {
    const answer = answers[at];
    return answer === undefined ? [] : [[machine, answer] as const];
  });
  const waits = await inParallel(AT_ONCE, answered, async ([machine, answer]) => {
    await options.guard(target);
    return await writeAnswer(options, machine, answer);
  });
  return {
    waits: waits.filter((wait) => wait !== null),
    failed: answered.flatMap(([machine, answer]) =>
      answer.kind === 'failed' ? [{ machine, detail: answer.detail, failed: true }] : [],
    ),
  };
}

/** A provider may have written onto the machine's object itself, so only its identity counts. */
async function writeAnswer(
  { kubernetes, clock }: MachineOptions,
  machine: DrivenMachine,
  answer: Creation,
): Promise<Asked['waits'][number] | null> {
  const at = clock.now();
  const written = { now: at, fresh: false };
  const asked = machine.askedAt === null ? { createdAt: formatInstant(at) } : {};
  if (answer.kind === 'made') {
    const { providerId, nodeName } = answer;
    const change = {
      phase: 'Joining',
      ...asked,
      providerID: providerId,
      provisionedAt: formatInstant(at),
      ...(nodeName === null ? {} : { hostname: nodeName }),
    } as const;
    const isNews = machine.providerId === null || nodeName !== null;
    if (isNews) await writeMachineStatus(kubernetes, machine, change, written);
    return { detail: `${machine.name} has not registered as a node yet`, retryAfterMs: null };
  }
  if (answer.kind === 'failed') return null;
  // Nobody has asked for it yet, so its time does not run.
  if (answer.isQueued === true || machine.phase !== 'Pending') return answer;
  await writeMachineStatus(kubernetes, machine, { phase: 'Provisioning', ...asked }, written);
  return answer;
}
