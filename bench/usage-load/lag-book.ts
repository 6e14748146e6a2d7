/**
 * Keeps, for one cluster, how long each change took until the status of its quota was true. What was expected after each
 * change of a quota is known beforehand; a status is true for a change, and for every earlier one of that quota, when it
 * shows what is expected after it and was in effect once the change was made. Their resourceVersions decide which of
 * two came first, not the order in which they arrived here: a watch and an answer travel on different connections.
 */

/** A change that the API server has answered. */
export interface AnsweredChange {
  readonly quota: string;
  /** The number of the change in its stream. */
  readonly change: number;
  /** What the quota's status shows once this change is counted. */
  readonly expected: string;
  /** When the answer was there, in milliseconds of a clock that only goes forward. */
  readonly at: number;
  /** The resourceVersion that the change was given; null where the answer names none. */
  readonly version: number | null;
}

/** A status of a quota, as a watch delivered it. */
export interface SeenStatus {
  readonly quota: string;
  readonly used: string;
  readonly version: number;
  readonly at: number;
}

interface Pending extends Omit<AnsweredChange, 'quota'> {
  /** The change came after this resourceVersion: its own where it is known, else that of the change before it. */
  readonly after: number;
}

type Status = Omit<SeenStatus, 'quota'>;

interface Quota {
  /** The newest status that has arrived. */
  status: Status | null;
  /** The newest resourceVersion of a change of it. */
  lastChange: number;
  /** In the order in which they were made. */
  pending: Pending[];
}

export class LagBook {
  readonly #quotas = new Map<string, Quota>();
  /** Quotas whose newest status shows what is expected, but is older than the change, and may have been replaced before it. */
  readonly #unconfirmed = new Set<Quota>();
  readonly #lags = new Map<number, number>();
  #watched = 0;
  #outstanding = 0;

  /** Records that the API server has answered a change. Changes of one quota must come in their order. */
  answered({ quota: name, ...change }: AnsweredChange): void {
    const quota = this.#quota(name);
    quota.pending.push({ ...change, after: change.version ?? quota.lastChange });
    quota.lastChange = Math.max(quota.lastChange, change.version ?? 0);
    this.#outstanding += 1;
    this.#settle(quota);
  }

  /** Records a status from the watch. Statuses must come in the order of the watch. */
  seen({ quota: name, ...status }: SeenStatus): void {
    const quota = this.#quota(name);
    // The status that is replaced now was in effect until this version.
    if (quota.status !== null) this.#resolve(quota, quota.status, status.version);
    quota.status = status;
    this.#settle(quota);
    this.progressed(status.version);
  }

  /** Records that the watch has delivered everything up to this resourceVersion. */
  progressed(version: number): void {
    this.#watched = Math.max(this.#watched, version);
    for (const quota of this.#unconfirmed) this.#settle(quota);
  }

  /** Milliseconds from a change to a true status; undefined while there is none. 0 where the status was true beforehand. */
  lagOf(change: number): number | undefined {
    return this.#lags.get(change);
  }

  /** How many answered changes have not led to a true status yet. */
  get outstanding(): number {
    return this.#outstanding;
  }

  /** The quotas whose status is not true yet, with what it shows and what is expected. */
  untrue(): readonly { readonly quota: string; readonly shows: string; readonly expected: string }[] {
    return [...this.#quotas].flatMap(([quota, { status, pending }]) => {
      const last = pending.at(-1);
      return last === undefined ? [] : [{ quota, shows: status?.used ?? '', expected: last.expected }];
    });
  }

  #quota(name: string): Quota {
    const existing = this.#quotas.get(name);
    if (existing !== undefined) return existing;
    const quota: Quota = { status: null, lastChange: 0, pending: [] };
    this.#quotas.set(name, quota);
    return quota;
  }

  /** Resolves what the newest status of a quota is true for, as far as the watch has come. */
  #settle(quota: Quota): void {
    const { status } = quota;
    if (status === null) return;
    this.#resolve(quota, status, this.#watched);
    if (quota.pending.some(({ expected }) => expected === status.used)) this.#unconfirmed.add(quota);
    else this.#unconfirmed.delete(quota);
  }

  /**
   * Resolves every change up to the newest one that a status is true for: one that it is newer than, or that was made
   * while it was in effect.
   *
   * @param until the status was in effect up to this resourceVersion at the least.
   */
  #resolve(quota: Quota, status: Status, until: number): void {
    const index = quota.pending.findLastIndex(
      (change) =>
        change.expected === status.used &&
        (isNewer(status, change) || (change.version !== null && change.version <= until)),
    );
    const newest = quota.pending[index];
    if (newest === undefined) return;
    // A status that is older than the change became true with the change itself, whenever it arrived here.
    const trueAt = isNewer(status, newest) ? status.at : newest.at;
    for (const { change, at } of quota.pending.splice(0, index + 1)) {
      this.#lags.set(change, Math.max(0, trueAt - at));
      this.#outstanding -= 1;
    }
  }
}

function isNewer(status: Status, change: Pending): boolean {
  return change.after < status.version;
}
