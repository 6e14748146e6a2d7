/**
 * What each workload must be, by a table of its own: one row a workload, with what it has and what it had, and a few rules of
 * who may change that. Replicas count as they are; a CronJob has 1 while it runs and 0 while it is suspended.
 */

/** Who wrote the value last. */
export interface LastWrite {
  readonly by: 'ours' | 'person' | 'gitops' | 'machine';
  readonly at: number;
  /** Surely the value was what was changed. */
  readonly isSure: boolean;
}

/** Said by people: awake or asleep until a moment. `from` is null where nobody knows since when. */
export interface Voice {
  readonly kind: 'wake' | 'sleep';
  readonly from: number | null;
  readonly until: number;
  /** `from` is the second in which it was said. */
  readonly isRounded?: boolean;
}

export interface Row {
  readonly isCronJob: boolean;
  readonly type: string;
  readonly namespace: string;
  value: number;
  /** What it had before `sleeper` put it to sleep, and is to have again. */
  full: number;
  sleeper: string | null;
  sleptAt: number;
  last: LastWrite;
  readonly bornAt: number;
  readonly isBornOfPerson: boolean;
  isExcluded: boolean;
  /** Left alone by everybody until this moment, by its annotation; null without one. */
  leftUntil: number | null;
  voices: readonly Voice[];
  /** Scaled down, it loses its volumes; and whether it may all the same. */
  losesVolumes: boolean;
  mayLoseVolumes: boolean;
}

/** What a schedule knows of the nights of single workloads. */
interface Look {
  readonly at: number;
  /** Those that it wants asleep and that are not. */
  readonly awake: ReadonlySet<Row>;
  /** Those that it did not want asleep before, though its night had begun: since when it does. */
  readonly joined: ReadonlyMap<Row, number>;
}

export interface Keeper {
  readonly name: string;
  isSuspended: boolean;
  isLeaving: boolean;
  state: 'Up' | 'Down';
  since: number;
  /** When all was as it should be last. */
  completedAt: number | null;
  /** Null before the first. */
  lastLook: Look | null;
  keeps: number;
  types: readonly string[];
  readonly excludes: boolean;
  /** For the whole schedule, and for a namespace. */
  voices: readonly (Voice & { readonly namespace: string | null })[];
}

export class ReferenceModel {
  readonly rows = new Map<string, Row>();
  /** Oldest first; those that exist. */
  keepers: Keeper[] = [];
  /** Namespaces in the scope of each schedule, by its name. */
  scopes: Record<string, readonly string[]> = {};
  namespaceVoices: Record<string, readonly Voice[]> = {};
  /** As `leftUntil` of a workload. */
  namespaceLeftUntil: Record<string, number> = {};

  #holds(keeper: Keeper, row: Row): boolean {
    const isOfType = keeper.types.length === 0 || keeper.types.includes(row.type);
    return (this.scopes[keeper.name] ?? []).includes(row.namespace) && isOfType && !(keeper.excludes && row.isExcluded);
  }

  /** Whether it is to be awake; if not, since when, and whether all was asleep once since then. */
  #wanted(keeper: Keeper, row: Row, now: number): 'wake' | { since: number | null; isCompleted: boolean } {
    const wanted = this.#wantedByTime(keeper, row, now);
    const kept = Math.min(row.sleeper === null ? row.value : row.full, keeper.keeps);
    if (row.losesVolumes && !row.mayLoseVolumes && row.value > kept) return 'wake';
    const joined = keeper.lastLook?.joined.get(row);
    if (wanted === 'wake' || wanted.since === null || joined === undefined || joined <= wanted.since) return wanted;
    return { since: joined, isCompleted: (keeper.completedAt ?? -1) >= joined };
  }

  #wantedByTime(keeper: Keeper, row: Row, now: number): 'wake' | { since: number | null; isCompleted: boolean } {
    const ends = [row.leftUntil, this.namespaceLeftUntil[row.namespace] ?? null].filter((end) => end !== null);
    if (ends.some((end) => end > now)) return 'wake';
    const levels = [
      row.voices,
      [
        ...(this.namespaceVoices[row.namespace] ?? []),
        ...keeper.voices.filter(({ namespace }) => namespace === row.namespace),
      ],
      keeper.voices.filter(({ namespace }) => namespace === null),
    ];
    const wakesEnded: number[] = [...ends];
    for (const level of levels) {
      wakesEnded.push(...level.filter(({ kind, until }) => kind === 'wake' && until <= now).map(({ until }) => until));
      const heard = level.filter(({ until }) => until > now);
      if (heard.some(({ kind }) => kind === 'wake')) return 'wake';
      if (heard.length === 0) continue;
      const begun = heard.map(({ from }) => from);
      const existing = begun.filter((from) => from !== null);
      if (existing.length < begun.length) return { since: null, isCompleted: false };
      const since = Math.max(...existing, ...wakesEnded);
      const isRounded = heard.some((voice) => voice.isRounded);
      return { since, isCompleted: (keeper.completedAt ?? -1) >= since + (isRounded ? 1000 : 0) };
    }
    if (keeper.state === 'Up') return 'wake';
    const since = Math.max(keeper.since, ...wakesEnded);
    return { since, isCompleted: (keeper.completedAt ?? -1) >= since };
  }

  /** A schedule looks at everything: what it wants asleep by now, and did not at its last look, joins now. */
  look(name: string, now: number): void {
    const keeper = this.keepers.find((candidate) => candidate.name === name);
    if (keeper === undefined) return;
    const { lastLook: before } = keeper;
    const wanted = [...this.rows.values()].flatMap((row) => {
      const isItsOwn = !keeper.isLeaving && !keeper.isSuspended && this.#holds(keeper, row);
      const night = isItsOwn && this.#holderOf(row) === keeper ? this.#wanted(keeper, row, now) : 'wake';
      return night === 'wake' ? [] : [{ row, since: night.since }];
    });
    const joined = wanted.flatMap(({ row, since }) => {
      const isOlder = before !== null && since !== null && row.bornAt <= since && since < before.at;
      const isNew = isOlder && row.sleeper === null && !before.awake.has(row);
      const at = isNew ? now : before?.joined.get(row);
      return at === undefined ? [] : [[row, at] as const];
    });
    const awake = wanted.filter(({ row }) => row.sleeper === null).map(({ row }) => row);
    keeper.lastLook = { at: now, awake: new Set(awake), joined: new Map(joined) };
  }

  #holderOf(row: Row): Keeper | undefined {
    const isClaimant = (keeper: Keeper) => !keeper.isSuspended && !keeper.isLeaving && this.#holds(keeper, row);
    return this.keepers.find(({ name }) => name === row.sleeper) ?? this.keepers.find(isClaimant);
  }

  /** One schedule comes by one workload. Whether that changed anything. */
  visit(key: string, name: string, now: number): boolean {
    const row = this.rows.get(key);
    const keeper = this.keepers.find((candidate) => candidate.name === name);
    if (row === undefined || keeper === undefined) return false;
    const before = JSON.stringify(row);
    this.#visit(row, keeper, now);
    return JSON.stringify(row) !== before;
  }

  #visit(row: Row, keeper: Keeper, now: number): void {
    const isMine = row.sleeper === keeper.name;
    if (keeper.isLeaving || (!keeper.isSuspended && !this.#holds(keeper, row))) {
      if (isMine) this.#wake(row, now);
      return;
    }
    if (keeper.isSuspended) return;
    if (this.#holderOf(row) !== keeper) return;
    const wanted = this.#wanted(keeper, row, now);
    if (wanted === 'wake') {
      if (row.sleeper !== null) this.#wake(row, now);
      return;
    }
    if (row.sleeper === null) this.#scaleDown(row, keeper, wanted, now);
    else this.#keepDown(row, keeper, wanted.since, now);
  }

  #scaleDown(
    row: Row,
    keeper: Keeper,
    { since, isCompleted }: { since: number | null; isCompleted: boolean },
    now: number,
  ): void {
    if (row.value <= (row.isCronJob ? 0 : keeper.keeps)) return;
    const isBorn = since !== null && row.isBornOfPerson && row.bornAt >= since;
    const isTouched =
      since !== null && row.last.by === 'person' && row.last.at > since && (isCompleted || row.last.isSure);
    if (isBorn || isTouched) return;
    this.#sleep(row, keeper, row.value, now);
  }

  #keepDown(row: Row, keeper: Keeper, since: number | null, now: number): void {
    const level = row.isCronJob ? 0 : Math.min(row.full, keeper.keeps);
    if (row.value > level && row.last.by === 'person') {
      const isOld = since !== null && row.last.at < since;
      if (isOld) this.#sleep(row, keeper, Math.max(row.full, row.value), now);
      return;
    }
    row.sleeper = keeper.name;
    if (row.value > level || (row.value < level && row.last.by === 'ours')) this.#set(row, level, now);
  }

  #sleep(row: Row, keeper: Keeper, full: number, now: number): void {
    row.full = full;
    row.sleeper = keeper.name;
    row.sleptAt = now;
    this.#set(row, row.isCronJob ? 0 : Math.min(full, keeper.keeps), now);
  }

  #wake(row: Row, now: number): void {
    row.sleeper = null;
    const isSuspendedAgain = row.isCronJob && row.last.by !== 'ours' && row.last.at > row.sleptAt;
    if (!isSuspendedAgain) this.#set(row, Math.max(row.full, row.value), now);
  }

  #set(row: Row, value: number, now: number): void {
    if (value === row.value) return;
    row.value = value;
    row.last = { by: 'ours', at: now, isSure: true };
  }

  /** Every schedule comes by every workload, until nothing changes any more; those that leave are gone then. */
  settle(now: number): void {
    for (;;) {
      const visits = this.keepers.flatMap(({ name }) => [...this.rows.keys()].map((key) => this.visit(key, name, now)));
      if (!visits.includes(true)) break;
    }
    this.keepers = this.keepers.filter(({ isLeaving }) => !isLeaving);
    for (const keeper of this.keepers) {
      if (!keeper.isSuspended) keeper.completedAt = now;
    }
  }
}
