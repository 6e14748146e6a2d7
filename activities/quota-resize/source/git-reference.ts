/** Reads Flux's GitRepository: the address, and the revision of it that Flux applies. */
import { z } from 'zod';

const gitRepository = z.object({
  spec: z.object({
    url: z.string(),
    ref: z
      .object({
        branch: z.string().optional(),
        tag: z.string().optional(),
        semver: z.string().optional(),
        name: z.string().optional(),
        commit: z.string().optional(),
      })
      .optional(),
  }),
});

/** Null for an object of another form. */
export function readGitReference(object: unknown): { readonly url: string; readonly revision: string } | null {
  const git = gitRepository.safeParse(object);
  return git.success ? { url: git.data.spec.url, ...fluxRevision(git.data.spec.ref ?? {}) } : null;
}

type FluxReference = NonNullable<z.infer<typeof gitRepository>['spec']['ref']>;

/** In Flux's order of precedence; the default is the branch `master`. */
function fluxRevision({ commit, name, semver, tag, branch }: FluxReference): { revision: string } {
  if (commit !== undefined) return { revision: commit };
  if (name !== undefined) return { revision: name };
  if (semver !== undefined) return { revision: `refs/tags/${semver}` };
  if (tag !== undefined) return { revision: `refs/tags/${tag}` };
  return { revision: branch ?? 'master' };
}
