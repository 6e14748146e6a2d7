/** What somebody may do in a repository, least first, in GitHub's words. */
const PERMISSIONS = ['pull', 'triage', 'push', 'maintain', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface TeamMembers {
  /** Logins. */
  readonly members: readonly string[];
  /** On this repository. Default: `push`. */
  readonly permission?: Permission;
}

/** Who has to do with a repository. */
export interface AccountsOptions {
  /** What each login may do. Left out: everybody may push. */
  readonly collaborators?: Readonly<Record<string, Permission>>;
  /** The owner's teams that have access, by slug. Default: none. */
  readonly teams?: Readonly<Record<string, TeamMembers>>;
}

/** The people and teams that a repository knows. Logins and slugs have no case. */
export class Accounts {
  #collaborators: ReadonlyMap<string, Permission> | undefined;
  #teams: ReadonlyMap<string, TeamMembers>;
  readonly #deleted = new Set<string>();

  constructor(options: AccountsOptions) {
    this.#collaborators = options.collaborators && byLowerCase(options.collaborators);
    this.#teams = byLowerCase(options.teams ?? {});
  }

  /** Changes who has to do with the repository; what is left out stays. */
  set({ collaborators, teams }: AccountsOptions): void {
    if (collaborators) this.#collaborators = byLowerCase(collaborators);
    if (teams) this.#teams = byLowerCase(teams);
  }

  /** Ends an account: what it has written stays, and is nobody's. */
  delete(login: string): void {
    this.#deleted.add(login.toLowerCase());
  }

  isDeleted(login: string): boolean {
    return this.#deleted.has(login.toLowerCase());
  }

  mayRead(login: string): boolean {
    return this.#may(login, 'pull');
  }

  /** Whether the approvals of this person count. */
  mayWrite(login: string): boolean {
    return this.#may(login, 'push');
  }

  hasTeam(slug: string): boolean {
    return this.#teams.has(slug.toLowerCase());
  }

  teamPermission(slug: string): Permission {
    return this.#teams.get(slug.toLowerCase())?.permission ?? 'push';
  }

  isMember(slug: string, login: string): boolean {
    const members = this.#teams.get(slug.toLowerCase())?.members ?? [];
    return members.some((member) => member.toLowerCase() === login.toLowerCase());
  }

  /** The most that somebody may do, by themselves or through a team; undefined for a stranger. */
  permissionOf(login: string): Permission | undefined {
    if (!this.#collaborators && !this.isDeleted(login)) return 'push';
    return PERMISSIONS.findLast((wanted) => this.#may(login, wanted));
  }

  #may(login: string, wanted: Permission): boolean {
    const enough = (has: Permission): boolean => PERMISSIONS.indexOf(has) >= PERMISSIONS.indexOf(wanted);
    if (this.isDeleted(login)) return false;
    if (!this.#collaborators) return true;
    const own = this.#collaborators.get(login.toLowerCase());
    if (own && enough(own)) return true;
    return [...this.#teams].some(
      ([slug, { permission }]) => this.isMember(slug, login) && enough(permission ?? 'push'),
    );
  }
}

function byLowerCase<T>(record: Readonly<Record<string, T>>): Map<string, T> {
  return new Map(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]));
}
