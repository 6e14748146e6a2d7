/**
 * The world of the state machine as a tenant has it: the tenant writes annotations and asks for workloads, people only say
 * no. What Headroom merges by itself is remembered as its Lease does.
 */
import { parseQuantity } from '../../../../domain/kernel/quantity.ts';
import { command } from '../../../../domain/quota-resize/decide/commands.ts';
import { mergeHold } from '../../../../domain/quota-resize/policy/merge-window.ts';
import type { RecordedRaise } from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import { growthLimits } from '../../../../domain/quota-resize/policy/unattended-limit.ts';
import type { ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import { Episode, World } from './resize-world.ts';

/** How people answer a pull request: they close it at once, send `reject`, or never look at it. */
export type Answer = 'close' | 'reject' | 'none';

export interface Story {
  /** Written one after the other, a tick each, and from the beginning again. Names without their prefix. */
  readonly annotations: readonly Readonly<Record<string, string>>[];
  /** How much CPU is missing at the n-th tick, in millicores. */
  readonly missing: (tick: number) => number;
  readonly answer: Answer;
  /** Milliseconds from one tick to the next. */
  readonly tick: number;
  readonly ticks: number;
  /** Millicores that are used all the time. */
  readonly used?: number;
}

/** What came of a story, by when. */
export interface Came {
  readonly opened: readonly { readonly at: number; readonly limit: number }[];
  /** When a decision ended that people had said no to, or nobody had answered, with its limit. */
  readonly rejected: readonly { readonly at: number; readonly limit: number; readonly by: string }[];
  /** The limits in Git, from the beginning on. */
  readonly limits: readonly { readonly at: number; readonly limit: number }[];
  readonly events: readonly number[];
  readonly comments: readonly number[];
}

function millicores(text: string): number {
  return Number(parseQuantity(text).nano / 1_000_000n);
}

type Act = Parameters<World['act']>[0];

function writesEvent(act: Act): boolean {
  if (act.kind === 'propose') return act.announce;
  if (act.kind === 'close' || act.kind === 'release') return act.rejection !== null;
  return ['notify', 'recommend', 'merge', 'mergedByPerson', 'closedByPerson', 'warnSync'].includes(act.kind);
}

function writesComment(act: Act): boolean {
  return act.kind === 'close' || act.kind === 'rebuild' || (act.kind === 'notify' && act.comment !== null);
}

class TenantWorld extends World {
  readonly #raises: RecordedRaise[] = [];
  readonly events: number[] = [];
  readonly comments: number[] = [];
  readonly limits = [{ at: this.now, limit: millicores(this.inGit) }];
  readonly opened: Came['opened'][number][] = [];
  readonly rejected: Came['rejected'][number][] = [];

  override observe(memory: ResizeMemory): ReturnType<World['observe']> {
    const seen = super.observe(memory);
    const { quota, policy } = seen.observation;
    const unattended = growthLimits(policy, quota?.hard ?? {}, this.#raises, this.now);
    const held = mergeHold(policy, this.now);
    return { ...seen, observation: { ...seen.observation, policy: { ...policy, unattended }, mergeHold: held } };
  }

  override act(...given: Parameters<World['act']>): ReturnType<World['act']> {
    const [verdict] = given;
    if (writesEvent(verdict)) this.events.push(this.now);
    if (writesComment(verdict) && this.pulls.some(({ state }) => state === 'open')) this.comments.push(this.now);
    if ('rejection' in verdict && verdict.rejection !== null) {
      const { at, by, limits } = verdict.rejection;
      this.rejected.push({ at, by, limit: millicores(limits['requests.cpu'] ?? '0') });
    }
    const before = this.pulls.length;
    const outcome = super.act(...given);
    for (const { limit } of this.pulls.slice(before)) this.opened.push({ at: this.now, limit: millicores(limit) });
    return outcome;
  }

  override merges(pull: Parameters<World['merges']>[0], by: string): void {
    const from = { 'requests.cpu': this.inGit };
    super.merges(pull, by);
    this.#raises.push({ decision: pull.decisionId, at: this.now, from, to: { 'requests.cpu': pull.limit } });
    this.limits.push({ at: this.now, limit: millicores(pull.limit) });
  }
}

/** Plays a story. */
export function play({ annotations, missing, answer, tick, ticks, used = 9_000 }: Story): Came {
  const world = new TenantWorld();
  const episode = new Episode(world, () => {});
  for (let count = 0; count < ticks; count += 1) {
    world.annotations = { ...annotations[count % annotations.length] };
    const lacking = missing(count);
    world.missing = lacking === 0 ? '0' : `${lacking}m`;
    world.used = `${used}m`;
    world.lastDenied = world.now;
    episode.run();
    const pull = world.pulls.findLast(({ state }) => state === 'open');
    if (answer === 'close' && pull !== undefined) world.personCloses(pull);
    if (answer === 'reject') {
      const outcome = command(episode.memory, 'reject', { by: 'ann', reason: '' }, world.now);
      if (outcome.kind === 'done') episode.memory = outcome.memory;
    }
    world.now += tick;
  }
  const { opened, rejected, limits, events, comments } = world;
  return { opened, rejected, limits, events, comments };
}
