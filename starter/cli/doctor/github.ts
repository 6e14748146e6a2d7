/** GitHub: what the credential may, how much is left of its limit, what the base branch asks for, and whether webhooks arrive. */
import { pino } from 'pino';
import { GitHubBranches } from '../../../activities/forge/github/branches.ts';
import { GitHubClient } from '../../../activities/forge/github/client.ts';
import type { GitHubCredentials } from '../../../activities/forge/github/credentials.ts';
import { gitHubRepository } from '../../../activities/forge/github/repository.ts';
import { createGitHubCredentials } from '../../../activities/quota-resize/github-credentials.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { ConfigError } from '../../../platform/config/config-problem.ts';
import { type Config, loadConfig } from '../../config.ts';
import type { LoadedConfig } from '../controller.ts';
import { type Findings, whyUnseen } from './finding.ts';

/** A share of the limit below which it is worth a look. */
const LITTLE = 0.1;
const NEWEST_DELIVERIES = 20;
const IN_THE_POD =
  'Set GITHUB_OWNER, GITHUB_REPO and the credential here, or ask in the pod: kubectl exec deployment/headroom-worker -- headroom doctor';

type GitHub = NonNullable<Config['github']>;

/**
 * Looks at every repository, and returns where the API is; null where none is configured here.
 *
 * @param inForce the settings of the workers that run, as far as they are known.
 */
export async function lookAtGitHub(
  { sources }: LoadedConfig,
  inForce: Config,
  findings: Findings,
): Promise<string | null> {
  const config = workersConfig(sources, findings);
  const github = config?.github;
  if (config === null || github === undefined) {
    if (config !== null && inForce.gitOps.repositories.length === 0 && inForce.resize.mode === 'observe')
      findings.ok('No repository is named, so Headroom only observes, and asks nothing of GitHub.');
    else if (config !== null)
      findings.unknown('No repository and credential of GitHub are configured here.', IN_THE_POD);
    return null;
  }
  const credentials = createGitHubCredentials(github.credential, {
    apiUrl: github.apiUrl,
    requestTimeoutMs: config.timings.requestTimeout,
  });
  const { owner, repo, apiUrl } = github;
  const log = pino({ enabled: false });
  const client = new GitHubClient({ owner, repo, apiUrl, credentials, log, graphQl: 'off' });
  await lookAtLimit(client, findings);
  await lookAtPermissions(credentials, config, findings);
  for (const { owner: of, repo: name, baseBranch } of github.repositories) {
    const repository = `${of}/${name}`;
    try {
      const its = client.forRepository(of, name);
      const branch = await lookAtRepository(its, { repository, baseBranch }, findings);
      if (branch !== null) await lookAtRules(its, { repository, branch, config }, findings);
      if (branch !== null && config.webhooks.pollMs !== undefined) await lookAtDeliveries(its, repository, findings);
    } catch (error) {
      findings.wrong(`GitHub does not answer for ${repository}: ${whyUnseen(error)}.`, credentialAdvice(github));
    }
  }
  return apiUrl;
}

/** The configuration as a worker has it, which alone has a credential. */
function workersConfig(sources: LoadedConfig['sources'], findings: Findings): Config | null {
  try {
    return loadConfig({ ...sources, program: 'worker' });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.unknown(`The settings of GitHub are not complete here: ${error.message}`, IN_THE_POD);
    return null;
  }
}

function credentialAdvice({ credential }: GitHub): string {
  return credential.kind === 'token'
    ? 'See whether the token is valid and is for this repository (docs/github.md).'
    : 'See whether the App is installed for this repository, with the permissions of docs/github.md, and its key is the present one.';
}

async function lookAtLimit(client: GitHubClient, findings: Findings): Promise<void> {
  const answer = await client
    .answer([404], (octokit) => octokit.rest.rateLimit.get())
    .catch((error: unknown) => {
      findings.wrong(
        `GitHub does not answer: ${whyUnseen(error)}.`,
        'See whether the credential and GITHUB_API_URL are right.',
      );
      return null;
    });
  if (answer === null) return;
  // GitHub Enterprise answers so where limits are off.
  if (!answer.ok) return findings.ok('GitHub has no rate limit here.');
  const { remaining, limit, reset } = answer.data.resources.core;
  const what = `${remaining} of ${limit} requests to GitHub are left until ${formatInstant(reset * 1_000)}.`;
  if (remaining < limit * LITTLE) {
    findings.warning(what, 'Find out who else uses this credential, or give Headroom one of its own.');
  } else findings.ok(what);
}

/** What docs/github.md asks for, where Headroom only reads, and where it proposes. */
const NEEDED = { contents: 'read', pull_requests: 'read', checks: 'read', statuses: 'read', metadata: 'read' } as const;
const PROPOSING = { ...NEEDED, contents: 'write', pull_requests: 'write' } as const;
const LEVELS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

/** Of an App; what a token may GitHub does not tell. */
async function lookAtPermissions(credentials: GitHubCredentials, config: Config, findings: Findings): Promise<void> {
  // Whoever gets no token hears of it for each repository.
  const granted = await credentials.permissions().catch(() => null);
  if (granted === null) return;
  const needed = config.resize.mode === 'propose' ? PROPOSING : NEEDED;
  const missing = Object.entries(needed).filter(
    ([name, level]) => (LEVELS[granted[name] ?? ''] ?? 0) < (LEVELS[level] ?? 0),
  );
  if (missing.length === 0) return findings.ok('The App has the permissions that Headroom needs.');
  const words = missing.map(([name, level]) => `${name} ${level} (it has ${granted[name] ?? 'none'})`).join(', ');
  findings.wrong(
    `The App lacks permissions: ${words}.`,
    'Give them to the App in its settings, and accept them in those of the organisation (docs/github.md).',
  );
}

/** The base branch of a repository; null where it cannot be used. */
async function lookAtRepository(
  client: GitHubClient,
  { repository, baseBranch }: { readonly repository: string; readonly baseBranch: string | undefined },
  findings: Findings,
): Promise<string | null> {
  const where = { owner: client.owner, repo: client.repo };
  const found = await client.answer([404], (octokit) => octokit.rest.repos.get(where));
  if (!found.ok) {
    findings.wrong(
      `This credential does not see the repository ${repository}: GitHub answers ${found.status}.`,
      'See whether its name is right, and the credential is for it (docs/github.md).',
    );
    return null;
  }
  findings.ok(`This credential sees the repository ${repository}.`);
  const branch = baseBranch ?? found.data.default_branch;
  const head = await client.answer([404], (octokit) => octokit.rest.repos.getBranch({ ...where, branch }));
  if (head.ok) return branch;
  findings.wrong(`${repository} has no branch ${branch}.`, 'Correct GITHUB_BASE_BRANCH, or make the branch.');
  return null;
}

async function lookAtRules(
  client: GitHubClient,
  { repository, branch, config }: { readonly repository: string; readonly branch: string; readonly config: Config },
  findings: Findings,
): Promise<void> {
  const branches = new GitHubBranches(gitHubRepository({ client }), () => {});
  const { requiresChecks, isProtected } = await branches.rules(branch);
  if (config.resize.autoMerge === 'github') await lookAtAutoMerge(client, repository, findings);
  const what = `${branch} of ${repository}`;
  if (!config.resize.autoMerge) {
    findings.ok(`${what} ${isProtected ? 'asks for reviews or checks' : 'asks for nothing'}; people merge.`);
  } else if (requiresChecks) findings.ok(`${what} asks for checks before a merge.`);
  else {
    findings.warning(
      `Headroom may merge to ${what}, which asks for no check.`,
      'Require the checks that say whether a change is good (docs/github.md).',
    );
  }
}

/** Whether the repository allows what the settings prefer; whoever may not write to it is not told. */
async function lookAtAutoMerge(client: GitHubClient, repository: string, findings: Findings): Promise<void> {
  const where = { owner: client.owner, repo: client.repo };
  const { allow_auto_merge: isAllowed } = await client.data((octokit) => octokit.rest.repos.get(where));
  if (isAllowed === true) findings.ok(`${repository} allows GitHub's auto-merge.`);
  else if (isAllowed === false) {
    findings.warning(
      `${repository} does not allow GitHub's auto-merge, so Headroom merges there itself.`,
      'Allow it in its settings (General, Pull Requests), or set ENABLE_AUTO_MERGE=true (docs/github.md#how-pull-requests-are-merged).',
    );
  }
}

/** Only who administers a repository may read them. */
async function lookAtDeliveries(client: GitHubClient, repository: string, findings: Findings): Promise<void> {
  const where = { owner: client.owner, repo: client.repo };
  const hooks = await client.answer([403, 404], (octokit) =>
    octokit.rest.repos.listWebhooks({ ...where, per_page: 100 }),
  );
  if (!hooks.ok) {
    return findings.unknown(
      `Only administrators of ${repository} can see whether its webhooks arrive.`,
      'See Settings → Webhooks → Recent deliveries there, or the metric headroom_starter_webhook_deliveries_total.',
    );
  }
  if (hooks.data.length === 0) {
    return findings.wrong(
      `${repository} has no webhook, and the starter awaits some.`,
      'Make one (docs/github.md#webhooks).',
    );
  }
  for (const { id, config } of hooks.data) {
    const url = config.url ?? 'an unknown address';
    const newest = await client.data((octokit) =>
      octokit.rest.repos.listWebhookDeliveries({ ...where, hook_id: id, per_page: NEWEST_DELIVERIES }),
    );
    const failed = newest.filter(({ status_code: code }) => code < 200 || code >= 300);
    const [last] = failed;
    if (last === undefined) findings.ok(`The last ${newest.length} deliveries of the webhook to ${url} have arrived.`);
    else {
      findings.wrong(
        `${failed.length} of the last ${newest.length} deliveries of the webhook to ${url} have failed, the last at ${last.delivered_at}: ${last.status_code} ${last.status}.`,
        'See that the address leads to the starter, and its secret is the one of GITHUB_WEBHOOK_SECRET_FILE (docs/github.md#webhooks).',
      );
    }
  }
}
