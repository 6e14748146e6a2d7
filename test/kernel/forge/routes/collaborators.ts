import type { Permission } from '../accounts.ts';
import { ApiError } from '../api-error.ts';
import { ok, REPOSITORY, type Route } from '../http/route.ts';
import { simpleUser } from '../represent/user.ts';

/** What `permission` says of each role: it is older than `maintain` and `triage`, and does not name them. */
const BASE_ROLES = { pull: 'read', triage: 'read', push: 'write', maintain: 'write', admin: 'admin' } as const;
/** The role's name: what the repository's settings call it. */
const ROLES = { pull: 'read', triage: 'triage', push: 'write', maintain: 'maintain', admin: 'admin' } as const;
const ASCENDING = ['pull', 'triage', 'push', 'maintain', 'admin'] as const;

/** What somebody may do in the repository. */
export const collaboratorRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/collaborators/{username}/permission`,
    docs: 'collaborators/collaborators#get-repository-permissions-for-a-user',
    handle({ forge, params }) {
      const login = params['username'] ?? '';
      // An app acts in a repository by the permissions of its installation, and has no role there.
      if (login.endsWith('[bot]') || forge.accounts.isDeleted(login)) throw new ApiError(404, `${login} is not a user`);
      // The repository is public: strangers may read it.
      const own: Permission = forge.accounts.permissionOf(login) ?? 'pull';
      return ok({
        permission: BASE_ROLES[own],
        role_name: ROLES[own],
        user: {
          ...simpleUser(forge.urls, login),
          permissions: Object.fromEntries(
            ASCENDING.map((each) => [each, ASCENDING.indexOf(each) <= ASCENDING.indexOf(own)]),
          ),
          role_name: ROLES[own],
        },
      });
    },
  },
];
