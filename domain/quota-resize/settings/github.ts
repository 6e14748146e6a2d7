/** Where the GitOps repositories are, and Headroom's identity on GitHub. */
import { z } from 'zod';
import { DEFAULT_READ_LIMITS, mergeMethods, type RepositoryName } from '../../kernel/forge.ts';
import { readPrivateKey } from '../../kernel/rsa-private-key.ts';
import {
  constant,
  explained,
  httpUrl,
  integerBetween,
  matching,
  parsed,
  PATH,
  splitList,
  text,
} from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';
import { defaultPathTemplate, parsePathTemplate } from '../git/locate/candidate/path-template.ts';

const OWNER = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}';
const REPOSITORY = new RegExp(`^(${OWNER})/((?!\\.{1,2}(?:@|$))[A-Za-z0-9._-]{1,100})(?:@([^\\s~^:?*[\\\\,]+))?$`);

/** `owner/name` or `owner/name@branch`, several of them separated by commas. */
const repositoryList: z.ZodType<readonly RepositoryName[], string> = parsed((written) =>
  splitList(written).map((name) => {
    const [, owner, repo, baseBranch] = REPOSITORY.exec(name) ?? [];
    if (owner === undefined || repo === undefined) throw new RangeError(name);
    return { owner, repo, baseBranch };
  }),
);

export const githubSettings = {
  apiUrl: {
    type: httpUrl,
    expected: 'an http or https address, such as https://api.github.com or https://github.example.com/api/v3',
    description: "The base of GitHub's REST API.",
    env: 'GITHUB_API_URL',
    flag: '--github-api-url',
    default: 'https://api.github.com',
  },
  graphQl: constant(
    {
      type: z.enum(['auto', 'off']),
      expected: 'auto or off',
      description:
        'Whether GraphQL is used wherever the server has it, or never; REST takes more requests for the same.',
      env: 'GITHUB_GRAPHQL',
      flag: '--github-graphql',
      default: 'auto',
    },
    'Headroom finds out whether a server has GraphQL; everything works without it, too.',
  ),
  token: {
    type: text.trim().min(1),
    expected: 'a GitHub token',
    description: 'The token for GitHub. Needed once Headroom may propose, unless there is a token file or an App.',
    env: 'GITHUB_TOKEN',
    secret: true,
  },
  tokenFile: {
    type: PATH,
    expected: 'the path of a file with a GitHub token',
    description: 'A file with the token, read again when it changes: a token is rotated without a restart.',
    env: 'GITHUB_TOKEN_FILE',
    flag: '--github-token-file',
  },
  appId: {
    type: matching(/^(?:[0-9]{1,15}|Iv[A-Za-z0-9.]{6,60})$/),
    expected: 'the number of a GitHub App, such as 123456, or its client id, such as Iv23liAbCdEfGhIjKlMn',
    description: 'The GitHub App to be, instead of a token.',
    env: 'GITHUB_APP_ID',
    flag: '--github-app-id',
  },
  appIdFile: {
    type: PATH,
    expected: "the path of a file with a GitHub App's number or client id",
    description: "A file with the App's number or client id, read again when it changes.",
    env: 'GITHUB_APP_ID_FILE',
    flag: '--github-app-id-file',
  },
  installationId: {
    type: matching(/^[0-9]{1,15}$/),
    expected: 'the number of an installation, the last part of the address of its page, such as 7654321',
    description: "The App's installation that owns the repositories.",
    env: 'GITHUB_INSTALLATION_ID',
    flag: '--github-installation-id',
  },
  installationIdFile: {
    type: PATH,
    expected: 'the path of a file with the number of an installation',
    description: 'A file with the number of the installation, read again when it changes.',
    env: 'GITHUB_INSTALLATION_ID_FILE',
    flag: '--github-installation-id-file',
  },
  privateKey: {
    type: explained((written) => {
      readPrivateKey(written);
      return written;
    }),
    expected: 'the RSA private key of the App as PEM, with line breaks or \\n',
    description: "The App's private key.",
    env: 'GITHUB_PRIVATE_KEY',
    secret: true,
  },
  privateKeyFile: {
    type: PATH,
    expected: 'the path of a PEM file',
    description: "A file with the App's private key, read again when it changes: a key is rotated without a restart.",
    env: 'GITHUB_PRIVATE_KEY_FILE',
    flag: '--github-private-key-file',
  },
  owner: {
    type: matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/),
    expected: 'the name of a GitHub user or organisation, such as acme',
    description:
      'The owner of the GitOps repository. Needed once Headroom may propose, unless GITHUB_REPOSITORIES names one.',
    env: 'GITHUB_OWNER',
    flag: '--github-owner',
  },
  repo: {
    type: matching(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/),
    expected: 'the name of a repository without its owner, such as gitops',
    description: 'The GitOps repository. Needed once Headroom may propose, unless GITHUB_REPOSITORIES names one.',
    env: 'GITHUB_REPO',
    flag: '--github-repo',
  },
  baseBranch: {
    type: matching(/^[^\s~^:?*[\\]+$/),
    expected: 'the name of a branch, such as main',
    description: "The branch to change. Without it the repository's default branch.",
    env: 'GITHUB_BASE_BRANCH',
    flag: '--github-base-branch',
  },
  repositories: {
    type: repositoryList,
    expected: 'owner/name or owner/name@branch, several separated by commas, such as acme/gitops,acme/platform@live',
    description: 'More GitOps repositories that Headroom may change, with the same credential.',
    env: 'GITHUB_REPOSITORIES',
    flag: '--github-repositories',
    isList: true,
  },
  mergeMethod: {
    type: z.enum(mergeMethods),
    expected: 'squash, rebase or merge',
    description:
      'How Headroom merges. Without it the first of squash, rebase and merge that is allowed. A merge queue has its own.',
    env: 'GITHUB_MERGE_METHOD',
    flag: '--github-merge-method',
  },
  pathTemplate: {
    type: explained(parsePathTemplate),
    expected: 'a path with {{ .Cluster }} and {{ .Namespace }}, such as clusters/{{ .Cluster }}/{{ .Namespace }}',
    description:
      "Where a namespace's manifests are in the repository: a file, or a folder that is searched with all below it.",
    env: 'GIT_PATH_TEMPLATE',
    flag: '--git-path-template',
    default: defaultPathTemplate,
  },
  maxFileBytes: constant(
    {
      type: integerBetween(10_000, 10_000_000),
      expected: 'a number of bytes from 10000 to 10000000',
      description: 'The largest file of a repository that is read. One lookup reads at most 20 MB.',
      env: 'GIT_MAX_FILE_BYTES',
      flag: '--git-max-file-bytes',
      default: String(DEFAULT_READ_LIMITS.fileBytes),
    },
    'Manifests are a hundredth of that; a larger file is named as not read.',
  ),
} as const satisfies Settings;
