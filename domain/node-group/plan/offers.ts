/** What nodes could be had: an instance type of a group, and why not. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { InstanceType, NodeGroup } from '../model/node-group.ts';
import type { UnhelpedReason } from '../model/plan.ts';
import type { Amounts } from '../../kernel/amounts.ts';
import { isCoolingDown } from '../rules/cooldown.ts';
import { mayBeWanted } from '../rules/desired.ts';
import { paidFor } from '../rules/growth.ts';
import { awaitsNodes, SIMPLE_NODE, SIMPLE_STEP } from '../rules/simple-estimate.ts';
import { isComing } from './live-nodes.ts';
import { byText } from './pending.ts';

type Refusal = Extract<UnhelpedReason, 'BackedOff' | 'Paused' | 'Disabled' | 'Limited' | 'AtMaximum'>;

export interface Blocked {
  readonly reason: Extract<Refusal, 'BackedOff' | 'Paused' | 'Disabled'>;
  /** A few words for people. */
  readonly detail: string;
  readonly until: EpochMs | null;
}

export interface Offer {
  readonly group: NodeGroup;
  readonly type: InstanceType;
  readonly allocatable: Amounts;
  /** Offers of a lower tier are taken before those of a higher one. */
  readonly tier: number;
  readonly refused: { readonly reason: Refusal; readonly detail: string } | null;
}

/** A group with its size. */
export interface Roster {
  readonly group: NodeGroup;
  /** Machines that are there or come, without those that leave. */
  readonly current: number;
  /** Machines whose nodes are being drained, or were: `desiredNodes` may count them (`mayBeWanted`). */
  readonly leaving: number;
  /** How many more it may have. */
  readonly room: number;
  readonly offers: readonly Offer[];
}

/** All groups by name, each with its offers in the order of its offering ids. */
export function rosters(state: ClusterState, blocked: Readonly<Record<string, Blocked>>): readonly Roster[] {
  const leaving = new Set(state.leaving);
  return state.groups
    .filter(({ isDeleting }) => !isDeleting)
    .toSorted((a, b) => byText(a.name, b.name))
    .map((group) => {
      const all = state.machines.filter((machine) => machine.group === group.name);
      const coming = all.filter(isComing);
      const current = coming.filter(({ node }) => node === null || !leaving.has(node)).length;
      const ready = coming.filter(({ phase }) => phase === 'Ready').length;
      const simple = group.estimate === 'simple';
      const free = Math.max(0, group.maxNodes - paidFor(all));
      const busy = simple && awaitsNodes({ desired: Math.max(group.desiredNodes ?? 0, coming.length), ready });
      const refused = refusal(group, state.at, ownValue(blocked, group.name), free, busy);
      const offers = offersOf(group, ownValue(state.instanceTypes, group.name) ?? [], refused);
      return {
        group,
        current,
        leaving: all.filter(mayBeWanted).length - current,
        room: simple ? Math.min(SIMPLE_STEP, free) : free,
        offers,
      };
    });
}

function refusal(
  group: NodeGroup,
  at: EpochMs,
  blocked: Blocked | undefined,
  free: number,
  isBusy: boolean,
): Offer['refused'] {
  if (blocked !== undefined) return blocked;
  const { name, scaleUp, backoff, lastScaleUp } = group;
  if (!scaleUp.enabled) return { reason: 'Disabled', detail: `scaling up is disabled in ${name}` };
  if (backoff !== null && backoff.until > at) {
    const detail = `${name} asks for no machines until ${formatInstant(backoff.until)}: ${backoff.reason}`;
    return { reason: 'BackedOff', detail };
  }
  if (free === 0)
    return { reason: 'AtMaximum', detail: `${name} has its ${group.maxNodes} nodes and may have no more` };
  if (isBusy) return { reason: 'Limited', detail: `${name} waits for the nodes that it asked for before` };
  if (lastScaleUp !== null && isCoolingDown(lastScaleUp, scaleUp.cooldownMs, at)) {
    const until = formatInstant(lastScaleUp + scaleUp.cooldownMs);
    return { reason: 'Limited', detail: `${name} was scaled up lately and cools down until ${until}` };
  }
  return null;
}

/** What a node is taken for before it comes. */
export function estimated({ estimate }: NodeGroup, { allocatable }: InstanceType): Amounts {
  return estimate === 'simple' ? { ...allocatable, ...SIMPLE_NODE } : allocatable;
}

/** A preferred type goes before the others of its group; groups that only observe come last. */
function offersOf(group: NodeGroup, types: readonly InstanceType[], refused: Offer['refused']): readonly Offer[] {
  const ordered = group.offeringIds.flatMap((id) => types.filter((type) => type.id === id && type.isAvailable));
  const preferred = ordered.find(({ id }) => id === group.preferredInstanceType);
  const [first] = ordered;
  const simple = group.estimate === 'simple';
  const chosen = simple ? [preferred ?? first].filter((type) => type !== undefined) : ordered;
  return chosen.map((type) => ({
    group,
    type,
    allocatable: estimated(group, type),
    tier: (group.mode === 'observe' ? 2 : 0) + (preferred === undefined || type === preferred ? 0 : 1),
    refused,
  }));
}

/** The type for a node that no pod asks for: the preferred one, or the cheapest by price, else the first. */
export function plainOffer({ offers, group }: Roster): Offer | null {
  const open = offers.filter(({ refused }) => refused === null);
  const least = Math.min(...open.map(({ tier }) => tier));
  const best = open.filter(({ tier }) => tier === least);
  if (group.expander !== 'price') return best[0] ?? null;
  const price = ({ type }: Offer): number => type.pricePerHour ?? Number.POSITIVE_INFINITY;
  return best.toSorted((a, b) => (price(a) < price(b) ? -1 : Number(price(a) > price(b))))[0] ?? null;
}
