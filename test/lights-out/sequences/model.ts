/**
 * What every workload of a sequence must be: a row each, and a table of rules, of which the first that holds says what becomes
 * of a row. Time is counted in ticks: whatever happens, and every coming to rest, is later than what was before.
 */
import { type Action, type Kind, type Maker, type NamespaceName, type ScheduleName, WORKLOADS } from './step.ts';

/** Who set the value last, as managed fields tell it. */
interface LastWrite {
  readonly by: Maker | 'ours';
  readonly at: number;
  /** The value is surely what was changed, and it is said when. */
  readonly isSure: boolean;
}

export interface Row {
  readonly key: string;
  readonly kind: Kind;
  readonly namespace: NamespaceName;
  readonly bornAt: number;
  readonly bornBy: Maker;
  /** Replicas; of a CronJob 1 while it runs and 0 while it is suspended. */
  value: number;
  last: LastWrite;
  /** The schedule that put it to sleep. */
  owner: ScheduleName | null;
  /** What it had then. */
  full: number;
  sleptAt: number;
  isSpared: boolean;
  isLeft: boolean;
  /** Nobody changed the value since it was made. */
  isMakers: boolean;
  /** Git's value is what it has, and applied. */
  isGits: boolean;
  /** What anybody ever wanted it to have. */
  readonly wants: Set<number>;
}

interface Override {
  readonly kind: 'wake' | 'sleep';
  readonly namespace: NamespaceName | null;
  readonly from: number;
  until: number;
}

export interface Keeper {
  readonly name: ScheduleName;
  /** As the crons say. */
  says: 'Up' | 'Down';
  /** What was in effect when all was at rest last, since when, and whether it did anything at all then. */
  state: 'Up' | 'Down';
  since: number;
  wasActive: boolean;
  isSuspended: boolean;
  isLeaving: boolean;
  /** Not followed before the next rest. */
  isNew: boolean;
  /** The last rest; before all ticks where there was none. */
  restedAt: number;
  keeps: number;
  isOnlySome: boolean;
  readonly excluded: Set<NamespaceName>;
  overrides: Override[];
  /** Commands that it was told and that it has not heard yet. */
  commands: Extract<Action, { readonly what: 'wake' | 'sleep' | 'cancel' }>[];
  /** The namespaces that it knew at the last rest, and whether only some kinds were its own. */
  seen: readonly NamespaceName[];
  sawOnlySome: boolean;
  /** What it wanted asleep at the last rest and left as it was; since when that is wanted of what was new to it. */
  awake: ReadonlySet<Row>;
  joined: Map<Row, number>;
  /** The last rest, also of one that is suspended. */
  lookedAt: number;
}

/** What becomes of a row: nothing, woken, put to sleep as it is now, or held at the level that the schedule keeps. */
type Effect = 'leave' | 'wake' | 'sleep' | 'hold';

interface Situation {
  readonly row: Row;
  readonly keeper: Keeper;
  readonly isMine: boolean;
  /** In the scope of the schedule. */
  readonly isHeld: boolean;
  /** The schedule to which it belongs, of those whose scope it is in. */
  readonly belongsTo: ScheduleName | null;
  readonly isToBeUp: boolean;
  /** Since when it is to sleep. */
  readonly since: number;
  /** Everything was at rest once since then. */
  readonly hasRested: boolean;
  /** What it has while it sleeps. */
  readonly level: number;
}

const isAsleep = ({ row }: Situation): boolean => row.owner !== null;
const isPersons = ({ row }: Situation): boolean => row.last.by === 'person';
const isTooHigh = ({ row, level }: Situation): boolean => row.value > level;

const RULES: readonly (readonly [says: string, holds: (situation: Situation) => boolean, effect: Effect])[] = [
  ['what a schedule that goes put to sleep is woken', ({ keeper, isMine }) => keeper.isLeaving && isMine, 'wake'],
  ['a schedule that goes does nothing else', ({ keeper }) => keeper.isLeaving, 'leave'],
  ['one that is suspended does nothing', ({ keeper }) => keeper.isSuspended, 'leave'],
  ['what left the scope is woken', ({ isHeld, isMine }) => !isHeld && isMine, 'wake'],
  ['what is out of the scope is left', ({ isHeld }) => !isHeld, 'leave'],
  ["what is another's is left", ({ keeper, belongsTo }) => belongsTo !== keeper.name, 'leave'],
  ['by day, what sleeps is woken', (situation) => situation.isToBeUp && isAsleep(situation), 'wake'],
  ['by day, the others are left', ({ isToBeUp }) => isToBeUp, 'leave'],
  [
    'what has no more than it is to keep is left',
    (situation) => !isAsleep(situation) && !isTooHigh(situation),
    'leave',
  ],
  [
    'what a person made in the night is left',
    (situation) => !isAsleep(situation) && situation.row.bornBy === 'person' && situation.row.bornAt > situation.since,
    'leave',
  ],
  [
    'what a person changed in the night is left, where that is known',
    (situation) =>
      !isAsleep(situation) &&
      isPersons(situation) &&
      situation.row.last.at > situation.since &&
      (situation.hasRested || situation.row.last.isSure),
    'leave',
  ],
  ['everything else is put to sleep', (situation) => !isAsleep(situation), 'sleep'],
  [
    'what a person woke in an earlier night is put to sleep',
    (situation) => isTooHigh(situation) && isPersons(situation) && situation.row.last.at < situation.since,
    'sleep',
  ],
  ['what a person woke in this night is left', (situation) => isTooHigh(situation) && isPersons(situation), 'leave'],
  ['whatever else woke it, it is put to sleep again', isTooHigh, 'hold'],
  ['it has what the schedule keeps', ({ row, level }) => row.value < level && row.last.by === 'ours', 'hold'],
  ['what somebody else put further down is left', () => true, 'leave'],
];

export class Model {
  readonly rows = new Map<string, Row>();
  /** The oldest first. */
  keepers: Keeper[] = [];
  /** Namespaces with the label of the first schedule. */
  readonly labelled = new Set<NamespaceName>(['x', 'y']);
  #tick = 0;

  constructor() {
    for (const key of Object.keys(WORKLOADS)) this.#create(key, 'person');
  }

  keeper(name: ScheduleName): Keeper | undefined {
    return this.keepers.find((keeper) => keeper.name === name);
  }

  /** The row of a workload. */
  row(key: string): Row {
    const row = this.rows.get(key);
    if (row === undefined) throw new Error(`there is no ${key}`);
    return row;
  }

  /** Takes in what happens. False where it cannot happen now, and nothing is to be done. `isHeard`: the worker is there. */
  act(action: Action, isHeard: boolean): boolean {
    this.#tick += 1;
    switch (action.what) {
      case 'make':
        return this.#make(action.schedule, action.state);
      case 'create':
        if (this.rows.has(action.key)) return false;
        this.#create(action.key, action.by);
        return true;
      case 'remove':
        return this.rows.delete(action.key);
      case 'label':
        flip(this.labelled, action.namespace);
        return true;
      case 'set':
      case 'sync':
      case 'rollout':
      case 'spare':
      case 'leave': {
        const row = this.rows.get(action.key);
        return row !== undefined && this.#touch(row, action);
      }
      default: {
        const keeper = this.keeper(action.schedule);
        return keeper !== undefined && !keeper.isLeaving && this.#edit(keeper, action, isHeard);
      }
    }
  }

  /** Every schedule does what it is to do, until nothing is left to be done. */
  rest(): void {
    this.#tick += 1;
    for (const keeper of this.keepers) this.#hear(keeper);
    for (const keeper of this.keepers) this.#join(keeper);
    for (let rounds = 0; ; rounds += 1) {
      if (rounds > 20) throw new Error('the table has no end');
      const visits = this.keepers.flatMap((keeper) =>
        [...this.rows.values()].map((row) => {
          const before = JSON.stringify(row);
          this.#join(keeper);
          this.#visit(row, keeper);
          return JSON.stringify(row) !== before;
        }),
      );
      if (!visits.includes(true)) break;
    }
    this.keepers = this.keepers.filter(({ isLeaving }) => !isLeaving);
    for (const keeper of this.keepers) {
      keeper.isNew = false;
      if (!keeper.isSuspended) keeper.restedAt = this.#tick;
      keeper.seen = this.#namespacesOf(keeper);
      keeper.sawOnlySome = keeper.isOnlySome;
      keeper.lookedAt = this.#tick;
      const wanted = this.#wantedAsleep(keeper);
      keeper.awake = new Set(wanted.filter(({ row }) => row.owner === null).map(({ row }) => row));
      for (const row of keeper.joined.keys()) {
        if (!wanted.some((each) => each.row === row)) keeper.joined.delete(row);
      }
    }
  }

  #create(key: string, by: Maker): void {
    const original = WORKLOADS[key];
    if (original === undefined) throw new Error(`there is no workload ${key}`);
    const { kind, namespace, value } = original;
    this.rows.set(key, {
      key,
      kind,
      namespace,
      bornAt: this.#tick,
      bornBy: by,
      value,
      last: { by, at: this.#tick, isSure: false },
      owner: null,
      full: 0,
      sleptAt: 0,
      isSpared: false,
      isLeft: false,
      isMakers: true,
      isGits: false,
      wants: new Set([value]),
    });
  }

  #make(name: ScheduleName, says: 'Up' | 'Down'): boolean {
    if (this.keeper(name) !== undefined) return false;
    this.keepers.push({
      name,
      says,
      state: says,
      since: this.#tick,
      wasActive: true,
      isSuspended: false,
      isLeaving: false,
      isNew: true,
      restedAt: -1,
      keeps: 0,
      isOnlySome: false,
      excluded: new Set(),
      overrides: [],
      commands: [],
      seen: [],
      sawOnlySome: false,
      awake: new Set(),
      joined: new Map(),
      lookedAt: -1,
    });
    return true;
  }

  #touch(
    row: Row,
    action: Extract<Action, { readonly what: 'set' | 'sync' | 'rollout' | 'spare' | 'leave' }>,
  ): boolean {
    switch (action.what) {
      case 'leave':
        row.isLeft = !row.isLeft;
        return true;
      case 'spare':
        row.isSpared = !row.isSpared;
        return true;
      case 'rollout': {
        // Of one that was made on the way, nobody could tell any more who made it.
        if (row.kind !== 'Deployment' || row.bornAt > 0) return false;
        // The same entry of the managed fields has a new moment, and may own the replicas as well.
        if (row.isMakers || row.last.by === 'person') this.#rollOut(row);
        return true;
      }
      case 'sync': {
        const value = WORKLOADS[row.key]?.value ?? 0;
        if (row.isGits) return true;
        row.wants.add(value);
        if (row.value !== value) row.isMakers = false;
        row.value = value;
        row.isGits = true;
        row.last = { by: 'gitops', at: this.#tick, isSure: false };
        return true;
      }
      case 'set': {
        const value = row.kind === 'CronJob' ? Math.min(action.value, 1) : action.value;
        if (value === row.value) return false;
        row.value = value;
        row.wants.add(value);
        row.isMakers = false;
        row.isGits = false;
        row.last = { by: 'person', at: this.#tick, isSure: row.kind === 'CronJob' || action.how === 'edit' };
        return true;
      }
    }
  }

  #rollOut(row: Row): void {
    // `kubectl scale` leaves no moment: the status that was written last stands for it.
    if (row.isMakers) row.last = { by: row.bornBy, at: this.#tick, isSure: false };
    else if (!row.last.isSure) row.last = { ...row.last, at: this.#tick };
  }

  #edit(
    keeper: Keeper,
    action: Exclude<
      Action,
      { readonly what: 'make' | 'create' | 'remove' | 'label' | 'set' | 'sync' | 'rollout' | 'spare' | 'leave' }
    >,
    isHeard: boolean,
  ): boolean {
    switch (action.what) {
      case 'turn':
        keeper.says = keeper.says === 'Up' ? 'Down' : 'Up';
        return true;
      case 'types':
        keeper.isOnlySome = !keeper.isOnlySome;
        return true;
      case 'exclude':
        flip(keeper.excluded, action.namespace);
        return true;
      case 'keep':
        keeper.keeps = action.replicas;
        return true;
      case 'suspend':
        keeper.isSuspended = !keeper.isSuspended;
        return true;
      case 'delete':
        keeper.isLeaving = true;
        return true;
      case 'vanish':
        if (!this.#isFree(keeper)) return false;
        keeper.isLeaving = true;
        return true;
      case 'wake':
      case 'sleep':
        if (keeper.isNew || (action.namespace !== null && !keeper.seen.includes(action.namespace))) return false;
        keeper.commands.push(action);
        return true;
      case 'cancel':
        if (keeper.isNew || (isHeard && !this.#cancels(keeper, action.namespace))) return false;
        keeper.commands.push(action);
        return true;
    }
  }

  /**
   * Whether it does not matter who comes first once the schedule is gone: its workflow, which wakes what sleeps, or another
   * schedule, which takes it over as it is.
   */
  #isFree(keeper: Keeper): boolean {
    return [...this.rows.values()].every(
      (row) =>
        row.owner !== keeper.name ||
        (row.last.by === 'ours' && row.bornAt === 0) ||
        this.keepers.every((other) => other === keeper || !this.#holds(other, row)),
    );
  }

  #cancels({ overrides }: Keeper, namespace: NamespaceName | null): boolean {
    return overrides.some(
      (override) => override.until > this.#tick && (namespace === null || override.namespace === namespace),
    );
  }

  /** A schedule looks for the first time since it was edited and told something. */
  #hear(keeper: Keeper): void {
    for (const { what, namespace } of keeper.commands.splice(0)) {
      if (what === 'cancel') {
        for (const override of keeper.overrides) {
          if (namespace === null || override.namespace === namespace)
            override.until = Math.min(override.until, this.#tick);
        }
        continue;
      }
      const others = keeper.overrides.filter(
        (override) => override.until <= this.#tick || override.namespace !== namespace,
      );
      keeper.overrides = [...others, { kind: what, namespace, from: this.#tick, until: Number.POSITIVE_INFINITY }];
    }
    const isActive = !keeper.isSuspended;
    // One that is new counts from its creation, whatever was done to it before it was followed.
    const isOther = keeper.says !== keeper.state || (isActive && !keeper.wasActive);
    if (isOther && !keeper.isNew) keeper.since = this.#tick;
    keeper.state = keeper.says;
    keeper.wasActive = isActive;
  }

  #wantedAsleep(keeper: Keeper): readonly { readonly row: Row; readonly since: number }[] {
    return [...this.rows.values()].flatMap((row) => {
      const { isToBeUp, since } = this.#wanted(keeper, row);
      const isItsOwn = this.#holds(keeper, row) && this.#belongsTo(row) === keeper.name;
      return isToBeUp || !isItsOwn || keeper.isSuspended || keeper.isLeaving ? [] : [{ row, since }];
    });
  }

  /** What it wants asleep and did not at the last rest, though that was in the same night, is new to it. */
  #join(keeper: Keeper): void {
    for (const { row, since } of this.#wantedAsleep(keeper)) {
      if (since > keeper.lookedAt || row.owner !== null || keeper.awake.has(row)) continue;
      // By an edit, or with its namespace, it joins whenever it was made.
      const isWidened = !keeper.seen.includes(row.namespace) || (keeper.sawOnlySome && row.kind === 'Deployment');
      if (isWidened || row.bornAt <= since) keeper.joined.set(row, this.#tick);
    }
  }

  #namespacesOf({ name, excluded }: Keeper): readonly NamespaceName[] {
    const selected: readonly NamespaceName[] = name === 'a' ? [...this.labelled] : ['y', 'z'];
    return selected.filter((namespace) => !excluded.has(namespace));
  }

  #holds(keeper: Keeper, row: Row): boolean {
    if (!this.#namespacesOf(keeper).includes(row.namespace)) return false;
    if (keeper.isOnlySome && row.kind === 'Deployment') return false;
    return !(keeper.name === 'a' && row.isSpared);
  }

  #belongsTo(row: Row): ScheduleName | null {
    if (row.owner !== null && this.keeper(row.owner) !== undefined) return row.owner;
    const claims = this.keepers.find((keeper) => !keeper.isSuspended && !keeper.isLeaving && this.#holds(keeper, row));
    return claims?.name ?? null;
  }

  #wanted(keeper: Keeper, row: Row): Pick<Situation, 'isToBeUp' | 'since'> {
    const { isToBeUp, since } = this.#wantedByTime(keeper, row);
    if (row.isLeft) return { isToBeUp: true, since };
    return { isToBeUp, since: Math.max(since, keeper.joined.get(row) ?? since) };
  }

  /** Namespaces go before the whole schedule, that before the crons; to be awake goes before to be asleep. */
  #wantedByTime(keeper: Keeper, { namespace }: Row): Pick<Situation, 'isToBeUp' | 'since'> {
    const wokeUntil: number[] = [];
    for (const level of [namespace, null]) {
      const overrides = keeper.overrides.filter((override) => override.namespace === level);
      wokeUntil.push(
        ...overrides
          .filter(({ kind, until }) => kind === 'wake' && until <= this.#tick)
          .map((override) => override.until),
      );
      const heard = overrides.filter(({ until }) => until > this.#tick);
      if (heard.length === 0) continue;
      const isToBeUp = heard.some(({ kind }) => kind === 'wake');
      return { isToBeUp, since: Math.max(...heard.map(({ from }) => from), ...wokeUntil) };
    }
    return { isToBeUp: keeper.state === 'Up', since: Math.max(keeper.since, ...wokeUntil) };
  }

  #visit(row: Row, keeper: Keeper): void {
    const { isToBeUp, since } = this.#wanted(keeper, row);
    const keeps = row.kind === 'CronJob' ? 0 : keeper.keeps;
    const situation: Situation = {
      row,
      keeper,
      isMine: row.owner === keeper.name,
      isHeld: this.#holds(keeper, row),
      belongsTo: this.#belongsTo(row),
      isToBeUp,
      since,
      hasRested: keeper.restedAt >= since,
      level: row.owner === null ? keeps : Math.min(row.full, keeps),
    };
    const [, , effect = 'leave'] = RULES.find(([, holds]) => holds(situation)) ?? [];
    switch (effect) {
      case 'leave':
        return;
      case 'wake': {
        row.owner = null;
        const isSuspendedAgain = row.kind === 'CronJob' && row.last.by !== 'ours' && row.last.at > row.sleptAt;
        // Nothing loses pods by being woken.
        if (!isSuspendedAgain) this.#set(row, Math.max(row.full, row.value));
        return;
      }
      case 'sleep':
        row.full = row.owner === null ? row.value : Math.max(row.full, row.value);
        row.owner = keeper.name;
        row.sleptAt = this.#tick;
        this.#set(row, Math.min(row.full, keeps));
        return;
      case 'hold':
        this.#set(row, situation.level);
        return;
    }
  }

  #set(row: Row, value: number): void {
    if (value === row.value) return;
    row.value = value;
    row.isMakers = false;
    row.isGits = false;
    row.last = { by: 'ours', at: this.#tick, isSure: true };
  }
}

function flip<T>(set: Set<T>, item: T): void {
  if (!set.delete(item)) set.add(item);
}
