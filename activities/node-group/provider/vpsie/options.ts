/** What the settings say of VPSie. */
export interface VpsieOptions {
  /** Where its REST is, such as `https://api.vpsie.com/v2`; `url` in the Secret goes before it. */
  readonly baseUrl: string;
  /** In which header the token goes: `Authorization: Bearer` or `Vpsie-Auth`, which goes with the base `/apps/v2`. */
  readonly authentication: 'bearer' | 'vpsie-auth';
  /**
   * The keys of the Secret with what they hold, read anew each time: `token`, or `clientId` and `clientSecret`; and `url` where
   * somebody wrote it.
   * @throws what the API server refuses.
   */
  readonly readSecret: () => Promise<Readonly<Record<string, string>>>;
}
