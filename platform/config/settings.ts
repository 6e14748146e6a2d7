import { z } from 'zod';
import { DURATION_FORM, parseDuration } from '../../domain/kernel/duration.ts';
import { readPrivateKey } from '../../activities/forge/github/private-key.ts';
import type { RepositoryName } from '../../activities/forge/repositories.ts';
import { parsePercent } from '../../domain/kernel/percent.ts';
import { defaultPathTemplate, parsePathTemplate } from '../../domain/quota-resize/git/locate/path-template.ts';
import { parseMaxStep } from '../../domain/quota-resize/policy/max-step.ts';
import { usageModes } from '../../domain/quota-usage/mode.ts';
import { templateChecks } from '../../domain/quota-resize/pull-request/text.ts';
import { readMergeWindows, WINDOWS_FORM } from '../../domain/quota-resize/policy/merge-window.ts';
import {
  APPROVAL_FORM,
  BURST_FORM,
  FREEZE_FORM,
  readApproval,
  readBurst,
  readFreezeUntil,
  readSpanOrNever,
  readSteps,
  SPAN_OR_NEVER_FORM,
  STEPS_FORM,
  WrongValue,
} from '../../domain/quota-resize/policy/values.ts';

/**
 * One setting of the processes. Reading, `--help` and the table in the documentation all come from this; its path in
 * the configuration file is `<group>.<key>` of its place in `settings`.
 */
export interface Setting<Output = unknown> {
  /** From the text that the user wrote, in whichever layer, to the value. */
  readonly type: z.ZodType<Output, string>;
  /** What is right, as the end of a sentence that begins with "expected". */
  readonly expected: string;
  readonly description: string;
  readonly env: string;
  /** With its dashes. A secret has none: command lines are visible to every user of a machine. */
  readonly flag?: `--${string}`;
  /** As the user would write it. A setting without a default may be absent, unless it is `required`. */
  readonly default?: string;
  /** The default inside a pod, where it differs. */
  readonly podDefault?: string;
  readonly required?: true;
  /** Taken from the environment only, and never shown. */
  readonly secret?: true;
  /** The flag alone, without a value, means `true`. */
  readonly isSwitch?: true;
  /** Several values: separated by commas, in the file a list as well. */
  readonly isList?: true;
}

type Settings = Readonly<Record<string, Readonly<Record<string, Setting>>>>;

const text = z.string();

/** The message of an issue that has nothing to add to `expected`. */
export const NO_REASON = 'Invalid input';

/** A type by its parser, which throws for what it does not take; `expected` says it all. */
function parsed<Output>(parse: (text: string) => Output): z.ZodType<Output, string> {
  return explained(parse, () => NO_REASON);
}

/** As `parsed`, for values that can be wrong in several ways: the parser's own words are added to what was expected. */
function explained<Output>(
  parse: (text: string) => Output,
  reasonOf: (error: unknown) => string = (error) => (error instanceof Error ? error.message : String(error)),
): z.ZodType<Output, string> {
  return text.transform((written, context) => {
    try {
      return parse(written);
    } catch (error) {
      context.addIssue({ code: 'custom', message: reasonOf(error) });
      return z.NEVER;
    }
  });
}

/** A type by the reader of the annotation with the same meaning. */
function asAnnotated<Output>(read: (text: string) => Output): z.ZodType<Output, string> {
  return explained(
    (written) => read(written.trim()),
    (error) => (error instanceof WrongValue ? error.reason : undefined) ?? NO_REASON,
  );
}

function matching(form: RegExp): z.ZodType<string, string> {
  return text.regex(form);
}

function numberBetween(min: number, max: number): z.ZodType<number, string> {
  return text
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
}

function integerBetween(min: number, max: number): z.ZodType<number, string> {
  return text
    .regex(/^[0-9]+$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** `true` and `false`, also as `1` and `0`, in upper or lower case. */
const boolean: z.ZodType<boolean, string> = text
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0']))
  .transform((written) => written === 'true' || written === '1');

// Node's timers hold at most 2^31 - 1 ms (24.8 days) and fire at once above that.
const LONGEST_SPAN_MS = 576 * 3_600_000;

function span(minMs: number): z.ZodType<number, string> {
  return parsed(parseDuration).pipe(z.number().min(minMs).max(LONGEST_SPAN_MS));
}

function timing(name: string, defaultSpan: string, description: string, least = '10ms') {
  return {
    type: span(parseDuration(least)),
    expected: `${DURATION_FORM}, from ${least} to 576h`,
    description,
    env: `HEADROOM_${name.toUpperCase().replaceAll('-', '_')}`,
    flag: `--${name}`,
    default: defaultSpan,
  } as const satisfies Setting;
}

/** Above 0, which would be true of every limit or change none. */
function percentage(max: number): z.ZodType<string, string> {
  return parsed(parsePercent).refine((percent) => Number(percent) > 0 && Number(percent) <= max);
}

/** A host and a port to listen on; port 0 is a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const listenAddress: z.ZodType<ListenAddress, string> = text
  .regex(/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/)
  .transform((written) => {
    const colon = written.lastIndexOf(':');
    return { host: written.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(written.slice(colon + 1)) };
  })
  .pipe(z.object({ host: z.string(), port: z.number().max(65_535) }));

const httpUrl: z.ZodType<string, string> = explained((written) => {
  const url = new URL(written);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RangeError('it is neither http nor https');
  if (url.username !== '' || url.password !== '') throw new RangeError('it must not carry a user or a password');
  return written.replace(/\/+$/, '');
});

/** `owner/name` or `owner/name@branch`, several of them separated by commas. */
const repositoryList: z.ZodType<readonly RepositoryName[], string> = parsed((written) =>
  splitList(written).map((name) => {
    const [, owner, repo, baseBranch] = REPOSITORY.exec(name) ?? [];
    if (owner === undefined || repo === undefined) throw new RangeError(name);
    return { owner, repo, baseBranch };
  }),
);

const OWNER = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}';
const REPOSITORY = new RegExp(`^(${OWNER})/((?!\\.{1,2}(?:@|$))[A-Za-z0-9._-]{1,100})(?:@([^\\s~^:?*[\\\\,]+))?$`);

function splitList(written: string): readonly string[] {
  return written
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const nameList: z.ZodType<readonly string[], string> = parsed(splitList);

/** A template that was tried out with samples, so that a bad one stops the process. */
function template(check: (written: string) => void): z.ZodType<string, string> {
  return explained((written) => {
    check(written);
    return written;
  });
}

const PATH = text.min(1);
const ADDRESS_FORM = 'host:port, such as 127.0.0.1:8081 or 0.0.0.0:8081; port 0 takes a free one';
const BOOLEAN_FORM = 'true or false';

/**
 * Every setting, in the order of the documentation. The names of the environment are a published interface.
 */
export const settings = {
  kubernetes: {
    clusterName: {
      type: matching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/),
      expected: 'at most 63 letters, digits, "-", "." and "_", with a letter or digit at both ends, such as prod-eu-1',
      description: "The cluster's name: part of every workflow id and task queue, and of the path in the repository.",
      env: 'CLUSTER_NAME',
      flag: '--cluster-name',
      required: true,
    },
    kubeconfig: {
      type: PATH,
      expected: 'the path of a kubeconfig file',
      description: 'The kubeconfig to use. Without it the service account of the pod is used.',
      env: 'KUBECONFIG',
      flag: '--kubeconfig',
    },
    context: {
      type: PATH,
      expected: 'the name of a context of the kubeconfig',
      description: "The kubeconfig's context, instead of its current one.",
      env: 'HEADROOM_CONTEXT',
      flag: '--context',
    },
    systemNamespace: {
      type: matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
      expected: 'the name of a namespace: at most 63 lower-case letters, digits and "-"',
      description: 'The namespace of the Leases and of the global pause.',
      env: 'SYSTEM_NAMESPACE',
      flag: '--system-namespace',
      default: 'namespace-resizer-system',
    },
    argocdNamespace: {
      type: matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
      expected: 'the name of a namespace: at most 63 lower-case letters, digits and "-"',
      description: "The namespace of Argo CD's Applications, where a quota's tracking id names no other.",
      env: 'ARGOCD_NAMESPACE',
      flag: '--argocd-namespace',
      default: 'argocd',
    },
  },
  temporal: {
    address: {
      type: matching(/^(?:[^\s:/@[\]]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/),
      expected: 'host:port without a scheme, such as temporal-frontend.temporal:7233',
      description: "The address of Temporal's frontend.",
      env: 'TEMPORAL_ADDRESS',
      flag: '--temporal-address',
      default: 'localhost:7233',
    },
    namespace: {
      type: matching(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
      expected: 'the name of a Temporal namespace, such as default',
      description: 'The Temporal namespace.',
      env: 'TEMPORAL_NAMESPACE',
      flag: '--temporal-namespace',
      default: 'default',
    },
    profile: {
      type: PATH,
      expected: "the name of a profile in Temporal's configuration file",
      description: "The profile of Temporal's own configuration file to use.",
      env: 'TEMPORAL_PROFILE',
      flag: '--temporal-profile',
    },
    configFile: {
      type: PATH,
      expected: "the path of Temporal's configuration file",
      description: "Temporal's own configuration file, instead of the one in the user's configuration folder.",
      env: 'TEMPORAL_CONFIG_FILE',
      flag: '--temporal-config-file',
    },
    apiKey: {
      type: text.min(1),
      expected: 'an API key',
      description: 'The API key for Temporal; it switches TLS on.',
      env: 'TEMPORAL_API_KEY',
      secret: true,
    },
    tls: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description: 'Whether to connect with TLS. A certificate or an API key switches it on as well.',
      env: 'TEMPORAL_TLS',
      flag: '--temporal-tls',
      isSwitch: true,
    },
    tlsClientCertPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The client's certificate, for mutual TLS.",
      env: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
      flag: '--temporal-tls-client-cert-path',
    },
    tlsClientCertData: {
      type: text.min(1),
      expected: 'a PEM certificate',
      description: "The client's certificate itself, instead of its path.",
      env: 'TEMPORAL_TLS_CLIENT_CERT_DATA',
      secret: true,
    },
    tlsClientKeyPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The client's private key, for mutual TLS.",
      env: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
      flag: '--temporal-tls-client-key-path',
    },
    tlsClientKeyData: {
      type: text.min(1),
      expected: 'a PEM private key',
      description: "The client's private key itself, instead of its path.",
      env: 'TEMPORAL_TLS_CLIENT_KEY_DATA',
      secret: true,
    },
    tlsServerCaCertPath: {
      type: PATH,
      expected: 'the path of a PEM file',
      description: "The certificate authority of Temporal's certificate.",
      env: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      flag: '--temporal-tls-server-ca-cert-path',
    },
    tlsServerCaCertData: {
      type: text.min(1),
      expected: 'a PEM certificate',
      description: 'The certificate authority itself, instead of its path.',
      env: 'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
      secret: true,
    },
    tlsServerName: {
      type: text.min(1),
      expected: 'a host name',
      description: "The name to expect in Temporal's certificate.",
      env: 'TEMPORAL_TLS_SERVER_NAME',
      flag: '--temporal-tls-server-name',
    },
    uiUrl: {
      type: httpUrl,
      expected: 'an http or https address, such as https://temporal.example.com',
      description: "The address of Temporal's UI, for the link to the workflow in every pull request.",
      env: 'TEMPORAL_UI_URL',
      flag: '--temporal-ui-url',
    },
  },
  github: {
    apiUrl: {
      type: httpUrl,
      expected: 'an http or https address, such as https://api.github.com or https://github.example.com/api/v3',
      description: "The base of GitHub's REST API.",
      env: 'GITHUB_API_URL',
      flag: '--github-api-url',
      default: 'https://api.github.com',
    },
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
    pathTemplate: {
      type: explained(parsePathTemplate),
      expected: 'a path with {{ .Cluster }} and {{ .Namespace }}, such as clusters/{{ .Cluster }}/{{ .Namespace }}',
      description:
        "Where a namespace's manifests are in the repository: a file, or a folder that is searched with all below it.",
      env: 'GIT_PATH_TEMPLATE',
      flag: '--git-path-template',
      default: defaultPathTemplate,
    },
  },
  pullRequest: {
    titleTemplate: {
      type: template(templateChecks.title),
      expected: 'a Handlebars template such as Raise quota {{target}}: {{summary}}',
      description: 'The title of pull requests. docs/pull-requests.md has the names that templates can use.',
      env: 'PULL_REQUEST_TITLE_TEMPLATE',
      flag: '--pull-request-title-template',
    },
    bodyTemplate: {
      type: template(templateChecks.body),
      expected: 'a Handlebars template in Markdown',
      description: "The description of pull requests, instead of Headroom's own.",
      env: 'PULL_REQUEST_BODY_TEMPLATE',
      flag: '--pull-request-body-template',
    },
    commitTemplate: {
      type: template(templateChecks.commit),
      expected: 'a Handlebars template such as chore(quota): raise {{target}}: {{summary}}',
      description: 'The message of commits; the trailers that Headroom finds its commits by come after it.',
      env: 'PULL_REQUEST_COMMIT_TEMPLATE',
      flag: '--pull-request-commit-template',
    },
    branchTemplate: {
      type: template(templateChecks.branch),
      expected: 'a Handlebars template with {{id}} in it, such as headroom/{{cluster}}/{{namespace}}/{{quota}}/{{id}}',
      description: 'The name of branches.',
      env: 'PULL_REQUEST_BRANCH_TEMPLATE',
      flag: '--pull-request-branch-template',
    },
    labels: {
      type: explained((written) => {
        const labels = splitList(written);
        for (const label of labels) templateChecks.label(label);
        return labels;
      }),
      expected: 'labels separated by commas, each a Handlebars template, such as quota,cluster/{{cluster}}',
      description: 'The labels of pull requests, one more request to GitHub each time.',
      env: 'PULL_REQUEST_LABELS',
      flag: '--pull-request-labels',
      isList: true,
    },
  },
  githubBudget: {
    writesPerMinute: {
      type: integerBetween(1, 100_000),
      expected: 'a number from 1 to 100000',
      // GitHub's secondary limit for requests that create content.
      description: 'How many writes to GitHub all workers with the same credential make a minute, at most.',
      env: 'GITHUB_WRITES_PER_MINUTE',
      flag: '--github-writes-per-minute',
      default: '80',
    },
    writesPerHour: {
      type: integerBetween(1, 1_000_000),
      expected: 'a number from 1 to 1000000',
      description: 'The same for an hour.',
      env: 'GITHUB_WRITES_PER_HOUR',
      flag: '--github-writes-per-hour',
      default: '500',
    },
    minute: timing(
      'github-budget-minute',
      '60s',
      'How long the minute of GITHUB_WRITES_PER_MINUTE is, and a sixtieth of the hour. Shorter ones are for tests.',
      '1s',
    ),
  },
  webhooks: {
    enabled: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description:
        'Whether GitHub tells a starter of changes of pull requests, so that the worker asks for them once an hour only.',
      env: 'GITHUB_WEBHOOKS',
      flag: '--github-webhooks',
      default: 'false',
      isSwitch: true,
    },
    address: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: "Where the starter takes GitHub's webhooks, at /webhooks/github. Without it it takes none.",
      env: 'WEBHOOK_ADDRESS',
      flag: '--webhook-address',
    },
    secret: {
      type: matching(/[^,\s]/),
      expected: 'the secret of the webhook, or two of them, separated by a comma or a line break',
      description: 'The secret that GitHub signs its webhooks with. Two while it is being replaced.',
      env: 'GITHUB_WEBHOOK_SECRET',
      secret: true,
    },
    secretFile: {
      type: PATH,
      expected: 'the path of a file with the secret of the webhook',
      description: 'A file with the secret, read again when it changes: a secret is rotated without a restart.',
      env: 'GITHUB_WEBHOOK_SECRET_FILE',
      flag: '--github-webhook-secret-file',
    },
    poll: timing(
      'webhook-poll',
      '1h',
      'How often an open pull request is asked for where webhooks tell of its changes, after its first minute.',
    ),
  },
  resize: {
    mode: {
      type: z.enum(['observe', 'propose']),
      expected: '"observe" or "propose"',
      description: 'Whether Headroom only recommends, or opens pull requests.',
      env: 'HEADROOM_MODE',
      flag: '--mode',
      default: 'observe',
    },
    dryRun: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description: 'Observe whatever any other setting or annotation says: nothing is written to GitHub.',
      env: 'DRY_RUN',
      flag: '--dry-run',
      default: 'false',
      isSwitch: true,
    },
    threshold: {
      type: percentage(100),
      expected: 'a percentage above 0 and up to 100, such as 80 or 80%',
      description: 'The share of a limit, in percent, from which on it is raised.',
      env: 'THRESHOLD',
      flag: '--threshold',
      default: '80',
    },
    increment: {
      type: percentage(1000),
      expected: 'a percentage above 0 and up to 1000, such as 20 or 20%',
      description: 'By how much, in percent, a limit is raised at least.',
      env: 'INCREMENT',
      flag: '--increment',
      default: '20',
    },
    cooldownMinutes: {
      type: numberBetween(0, 40_320),
      expected: 'a number of minutes from 0 to 40320 (four weeks), such as 60',
      description: 'How many minutes a quota rests after a change or a recommendation.',
      env: 'COOLDOWN_MINUTES',
      flag: '--cooldown-minutes',
      default: '60',
    },
    maxStep: {
      type: parsed(parseMaxStep),
      expected: 'a factor from 1 to 1000, such as 2',
      description: 'The largest raise, as a multiple of the limit, that needs no approval by a person.',
      env: 'MAX_STEP',
      flag: '--max-step',
      default: '2',
    },
    burst: {
      type: asAnnotated(readBurst),
      expected: BURST_FORM,
      description:
        'How far unmet demand raises a limit: so far that the threshold is not reached again at once, or for just what is missing.',
      env: 'BURST',
      flag: '--burst',
      default: 'settle',
    },
    steps: {
      type: asAnnotated(readSteps),
      expected: STEPS_FORM,
      description: 'What proposed limits are rounded up to a multiple of, such as cpu=1,memory=4Gi.',
      env: 'STEPS',
      flag: '--steps',
      default: 'none',
    },
    approval: {
      type: asAnnotated(readApproval),
      expected: APPROVAL_FORM,
      description: 'Before what a person has to approve every raise.',
      env: 'APPROVAL',
      flag: '--approval',
      default: 'none',
    },
    approvalReminder: {
      type: asAnnotated(readSpanOrNever),
      expected: SPAN_OR_NEVER_FORM,
      description: 'How often people are reminded of an approval that is missing.',
      env: 'APPROVAL_REMINDER',
      flag: '--approval-reminder',
      default: '24h',
    },
    approvalTimeout: {
      type: asAnnotated(readSpanOrNever),
      expected: SPAN_OR_NEVER_FORM,
      description: 'After how long without an answer an approval counts as refused.',
      env: 'APPROVAL_TIMEOUT',
      flag: '--approval-timeout',
      default: 'never',
    },
    freezeUntil: {
      type: asAnnotated(readFreezeUntil),
      expected: FREEZE_FORM,
      description: 'Nothing is merged before this moment. An annotation can only make it later.',
      env: 'FREEZE_UNTIL',
      flag: '--freeze-until',
    },
    mergeWindows: {
      type: asAnnotated(readMergeWindows),
      expected: WINDOWS_FORM,
      description: 'When merging is allowed, such as 0 9 * * 1-5 for 8h in Europe/Berlin.',
      env: 'MERGE_WINDOWS',
      flag: '--merge-windows',
      default: 'always',
    },
    autoMerge: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description: 'Whether Headroom may merge its pull requests. A namespace can only switch it off.',
      env: 'ENABLE_AUTO_MERGE',
      flag: '--enable-auto-merge',
      default: 'false',
      isSwitch: true,
    },
  },
  timings: {
    demandSettle: timing(
      'demand-settle',
      '2s',
      'How long an unmet demand must stay the same before it is acted on, so that a rollout is seen whole.',
      '0',
    ),
    checksPollMin: timing('checks-poll-min', '15s', 'How often the checks of a fresh pull request are asked for.'),
    checksPollMax: timing('checks-poll-max', '5m', 'How often the checks of an old pull request are asked for.'),
    checksPollRamp: timing('checks-poll-ramp', '10m', 'After how long a pull request counts as old.'),
    settle: timing('settle', '60s', 'How long a pull request without any check must stand before it is merged.', '0'),
    updateInterval: timing('update-interval', '10m', 'An open pull request is updated at most once in this span.'),
    needGone: timing('need-gone', '10m', 'How long a need must be gone before its pull request is closed.'),
    holdRetry: timing('hold-retry', '5m', 'After how long a blocked or locked decision is tried again.'),
    syncPoll: timing('sync-poll', '15s', 'How often the cluster is asked whether it follows a merge.'),
    syncOverdue: timing('sync-overdue', '20m', 'After how long a cluster that does not follow is warned about.'),
    rejectionCooldown: timing('rejection-cooldown', '24h', "How long a person's refusal is respected."),
    recommendationRepeat: timing(
      'recommendation-repeat',
      '24h',
      'An unchanged recommendation is repeated at most once in this span.',
    ),
    leaseGcInterval: timing('lease-gc-interval', '12h', 'How often the Leases of deleted quotas are collected.', '1m'),
    githubWriteSpacing: timing(
      'github-write-spacing',
      // GitHub's advice against its secondary limits: at least a second between two writes.
      '1s',
      'The least time between two writes of a worker to GitHub.',
      '0',
    ),
    requestTimeout: timing('request-timeout', '30s', 'How long a request to Kubernetes or GitHub may take.', '100ms'),
  },
  quotaUsage: {
    mode: {
      type: z.enum(usageModes),
      expected: '"off", "own" or "audit"',
      description:
        "Who keeps the status of quotas true: Kubernetes' own controller (off), Headroom (own), or Kubernetes while Headroom checks (audit).",
      env: 'HEADROOM_USAGE_MODE',
      flag: '--usage-mode',
      default: 'off',
    },
    resync: timing('usage-resync', '5m', 'How often every quota is counted anew; 0 turns it off.', '0'),
    replenishmentResync: timing(
      'usage-replenishment-resync',
      '12h',
      'How often everything that quotas count is listed anew, at the earliest; each time up to twice as late.',
      '1s',
    ),
    discovery: timing('usage-discovery', '30s', 'How often the resources of the cluster are discovered.', '100ms'),
    maxGap: timing(
      'usage-max-gap',
      '5s',
      'The longest time between two counts of a namespace in which much changes; one in which little changes is counted at once.',
      '0',
    ),
    auditAfter: timing('usage-audit-after', '60s', 'How long a status must be wrong before it is reported.', '100ms'),
    workers: {
      type: integerBetween(1, 1_000),
      expected: 'a number from 1 to 1000',
      // As many as Kubernetes' own controller has for its two queues.
      description: 'How many counts a starter makes at once.',
      env: 'HEADROOM_USAGE_WORKERS',
      flag: '--usage-workers',
      default: '10',
    },
  },
  lightsOut: {
    enabled: {
      type: boolean,
      expected: BOOLEAN_FORM,
      description: 'Whether LightsOutSchedules are followed; their definition must be in the cluster.',
      env: 'HEADROOM_LIGHTS_OUT',
      flag: '--lights-out',
      isSwitch: true,
      default: 'false',
    },
    protectedNamespaces: {
      type: nameList,
      expected: 'names of namespaces, separated by commas',
      description:
        "Namespaces that no schedule touches, beside the system's, Headroom's own and the one that TEMPORAL_ADDRESS names.",
      env: 'HEADROOM_LIGHTS_OUT_PROTECTED_NAMESPACES',
      flag: '--lights-out-protected-namespaces',
      default: 'temporal,temporal-system',
      isList: true,
    },
    gitopsManagers: {
      type: nameList,
      expected: 'field managers, separated by commas',
      description: "Field managers whose writes are not a person's: what they put up at night is put down again.",
      env: 'HEADROOM_LIGHTS_OUT_GITOPS_MANAGERS',
      flag: '--lights-out-gitops-managers',
      default: 'argocd-controller,argocd-application-controller,kustomize-controller,helm-controller',
      isList: true,
    },
    webhookAddress: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description:
        'Where the starter serves the admission webhooks of LightsOutSchedules, with TLS. Absent: it does not.',
      env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_ADDRESS',
      flag: '--lights-out-webhook-address',
    },
    webhookCertificate: {
      type: PATH,
      expected: 'the path of a folder with tls.crt and tls.key',
      description:
        'The certificate of the webhooks, as cert-manager mounts it; read again when it changes. Absent: the starter makes one, keeps it in a Secret and renews it.',
      env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_CERTIFICATE',
      flag: '--lights-out-webhook-certificate',
    },
    webhookHost: {
      type: PATH,
      expected: 'a DNS name or an IP address',
      description:
        'The name that the API server calls the webhooks by, for which the starter makes a certificate. Default: headroom-lights-out.<namespace>.svc.',
      env: 'HEADROOM_LIGHTS_OUT_WEBHOOK_HOST',
      flag: '--lights-out-webhook-host',
    },
    retryMin: timing(
      'lights-out-retry-min',
      '15s',
      'When a workload that could not be written is tried again; twice as long each time.',
    ),
    retryMax: timing('lights-out-retry-max', '10m', 'The longest time between two tries of such a workload.'),
    contestedMin: timing(
      'lights-out-contested-min',
      '1m',
      'When a workload that GitOps puts up again and again is put down once more; twice as long each time.',
    ),
    contestedMax: timing('lights-out-contested-max', '1h', 'The longest such time.'),
  },
  worker: {
    maxCachedWorkflows: {
      type: integerBetween(0, 100_000),
      expected: 'a number from 0 to 100000',
      // A cached workflow was measured at 331 KB: 500 of them are 165 MB.
      description: 'How many workflows stay in memory between their tasks, at about a third of a megabyte each.',
      env: 'HEADROOM_MAX_CACHED_WORKFLOWS',
      flag: '--max-cached-workflows',
      default: '500',
    },
    maxConcurrentActivities: {
      type: integerBetween(1, 10_000),
      expected: 'a number from 1 to 10000',
      description: 'How many activities of each controller run at once.',
      env: 'HEADROOM_MAX_CONCURRENT_ACTIVITIES',
      flag: '--max-concurrent-activities',
      default: '100',
    },
    maxConcurrentWorkflowTasks: {
      // The SDK refuses 1 while workflows are cached: one slot would never be free for a task that is not sticky.
      type: integerBetween(2, 10_000),
      expected: 'a number from 2 to 10000',
      description: 'How many workflow tasks run at once.',
      env: 'HEADROOM_MAX_CONCURRENT_WORKFLOW_TASKS',
      flag: '--max-concurrent-workflow-tasks',
      default: '40',
    },
  },
  starter: {
    hintsPerSecond: {
      // Temporal's dev server on a file database was measured at 95 starts by signal a second.
      type: numberBetween(0.1, 10_000),
      expected: 'a number from 0.1 to 10000',
      description: 'How many workflows are started or woken a second, at most.',
      env: 'HEADROOM_HINTS_PER_SECOND',
      flag: '--hints-per-second',
      default: '50',
    },
    resyncInterval: timing('resync-interval', '10m', 'How often every quota is looked at without any change.', '1s'),
  },
  process: {
    logLevel: {
      type: z.enum(['trace', 'debug', 'info', 'warn', 'error']),
      expected: 'trace, debug, info, warn or error',
      description: 'The least important log lines that are written.',
      env: 'LOG_LEVEL',
      flag: '--log-level',
      default: 'info',
    },
    healthAddress: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: 'Where /healthz and /readyz are served.',
      env: 'HEALTH_ADDRESS',
      flag: '--health-address',
      default: '127.0.0.1:0',
      podDefault: '0.0.0.0:8081',
    },
    metricsAddress: {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: 'Where /metrics is served for Prometheus.',
      env: 'METRICS_ADDRESS',
      flag: '--metrics-address',
      default: '127.0.0.1:0',
      podDefault: '0.0.0.0:9090',
    },
    shutdownGrace: timing('shutdown-grace', '20s', 'How long work in progress may take to end at a shutdown.', '0'),
  },
} as const satisfies Settings;

/** The setting that names the configuration file; it cannot be in the file itself. */
export const configFileSetting = {
  type: PATH,
  expected: 'the path of a YAML file',
  description: 'A YAML file with any of the settings below, except secrets.',
  env: 'HEADROOM_CONFIG',
  flag: '--config',
} as const satisfies Setting;

/** A setting with its place in `settings`. */
export interface PlacedSetting {
  readonly group: string;
  readonly key: string;
  /** `<group>.<key>`, its path in the configuration file and in `Config`. */
  readonly path: string;
  readonly setting: Setting;
}

/** Every setting with its path, in the order of the documentation. */
export const placedSettings: readonly PlacedSetting[] = Object.entries(settings as Settings).flatMap(
  ([group, members]) =>
    Object.entries(members).map(([key, setting]) => ({ group, key, path: `${group}.${key}`, setting })),
);

type ValueOf<S> = S extends { readonly type: z.ZodType<infer Output, string> }
  ? S extends { readonly default: string } | { readonly required: true }
    ? Output
    : Output | undefined
  : never;

/** The values of all settings, by group and key. */
export type SettingValues = {
  readonly [Group in keyof typeof settings]: {
    readonly [Key in keyof (typeof settings)[Group]]: ValueOf<(typeof settings)[Group][Key]>;
  };
};
