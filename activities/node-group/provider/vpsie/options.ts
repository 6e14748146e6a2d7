/** What the settings say of VPSie. */
export interface VpsieOptions {
  /** Where its REST is, such as `https://api.vpsie.com/v2`; `url` in the Secret goes before it. */
  readonly baseUrl: string;
  /**
   * The keys of the Secret with what they hold: `token`, or `clientId` and `clientSecret`; and `url` where somebody wrote it.
   * It is asked again when a token was not accepted, and once a minute.
   * @throws what the API server refuses.
   */
  readonly readSecret: () => Promise<Readonly<Record<string, string>>>;
  /** Other times than those of `defaultTimes`. */
  readonly times?: Partial<VpsieTimes>;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

/** Times in milliseconds, but for the rate. */
export interface VpsieTimes {
  /** For one request with its answer. */
  readonly requestMs: number;
  /** How long after a request for a machine without an answer it may still come up in the list. */
  readonly settleMs: number;
  /** The same for one that VPSie has accepted. */
  readonly acceptedMs: number;
  /** Before that time nobody looks after a request of another machine: whoever sent it does. */
  readonly othersMs: number;
  /** After that time since the intent was written no request is sent any more: somebody else may count it as settled. */
  readonly startMs: number;
  /** Between two looks for a machine that is on its way. */
  readonly lookMs: number;
  /** How long one call goes on with the next machine: whoever calls has nodes to look after meanwhile. */
  readonly callMs: number;
  /** What VPSie takes from one account in a minute. */
  readonly requestsPerMinute: number;
}

/**
 * VPSie's limit is 100 requests a minute. Its answer to a request for a machine is mostly a bare `true`: the machine comes up in
 * the list once it is being made, which takes seconds, and on bad days minutes.
 */
const defaultTimes: VpsieTimes = {
  requestMs: 30_000,
  settleMs: 300_000,
  acceptedMs: 600_000,
  othersMs: 60_000,
  startMs: 15_000,
  lookMs: 5_000,
  callMs: 10_000,
  requestsPerMinute: 100,
};

export function timesOf({ times }: Pick<VpsieOptions, 'times'>): VpsieTimes {
  return { ...defaultTimes, ...times };
}
