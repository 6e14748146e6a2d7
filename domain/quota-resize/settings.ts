/** The settings of the quota resizer: its lowest policy layer, its intervals, GitHub and pull requests. */
import { DEFAULT_READ_LIMITS } from '../kernel/forge.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { parsed, text } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings, type ValuesOf } from '../kernel/settings/setting.ts';
import { BUILT_IN_GUARDRAIL } from './policy/guardrail.ts';
import type { PolicyDefaults } from './policy/policy.ts';
import { DELIVERY_NAMESPACES_FORM, parseDeliveryNamespaces } from './settings/delivery-namespaces.ts';
import { githubSettings } from './settings/github.ts';
import { secretsOf } from './settings/github-credential.ts';
import { policySettings } from './settings/policy.ts';
import { pullRequestSettings } from './settings/pull-request.ts';
import { repositoriesOf, resolveGitHub } from './settings/resolve-github.ts';
import { resolveWebhooks } from './settings/resolve-webhooks.ts';
import { timingSettings } from './settings/timings.ts';
import { webhookSettings } from './settings/webhooks.ts';

const kubernetesSettings = {
  deliveryNamespaces: {
    type: parsed(parseDeliveryNamespaces),
    expected: DELIVERY_NAMESPACES_FORM,
    description:
      'Namespaces of the objects of Argo CD and Flux, that of Argo CD first. Without * Headroom may read no others.',
    env: 'DELIVERY_NAMESPACES',
    flag: '--delivery-namespaces',
    default: 'argocd,*',
    isList: true,
  },
  argocdNamespace: {
    type: text,
    expected: 'nothing',
    description: "The namespace of Argo CD's Applications, in earlier releases.",
    env: 'ARGOCD_NAMESPACE',
    flag: '--argocd-namespace',
    constant: {
      why: 'It is the first of `DELIVERY_NAMESPACES`.',
      value: 'the first of DELIVERY_NAMESPACES (kubernetes.deliveryNamespaces), such as argo-cd,*',
    },
  },
} as const satisfies Settings;

export const quotaResizeSettings = defineSettings(
  {
    github: 'GitHub',
    pullRequest: 'Pull requests',
    webhooks: "GitHub's webhooks",
    resize: 'Resizing quotas',
  },
  {
    github: githubSettings,
    pullRequest: pullRequestSettings,
    webhooks: webhookSettings,
    resize: policySettings,
    timings: timingSettings,
    kubernetes: kubernetesSettings,
  },
  [
    'resize',
    'timings',
    'kubernetes.deliveryNamespaces',
    'github.apiUrl',
    'github.owner',
    'github.repo',
    'github.baseBranch',
    'github.repositories',
    'github.pathTemplate',
  ],
  ({ github: githubValues, pullRequest, webhooks: webhookValues, resize, timings, kubernetes }, sources) => {
    const isProposing = resize.mode === 'propose' && !resize.dryRun;
    const github = resolveGitHub(githubValues, isProposing, sources);
    const webhooks = resolveWebhooks(webhookValues, sources);
    if (resize.dryRun && resize.mode === 'propose') {
      const { where } = sources.written.get('resize.dryRun') ?? {};
      sources.notices.push(`${where} wins over mode "propose": Headroom only observes.`);
    }
    return {
      /** Absent while owner, repository or token are not set; observing needs none of them. */
      github,
      webhooks,
      pullRequest,
      resize: { ...resize, mode: isProposing ? ('propose' as const) : ('observe' as const) },
      timings,
      kubernetes,
      /** The repositories that are named, even in a process without a credential for them. */
      gitOps: { apiUrl: githubValues.apiUrl, repositories: repositoriesOf(githubValues) },
      /** The path of a namespace's manifests in the repository, unless an annotation overrides it. */
      gitPathTemplate: githubValues.pathTemplate,
      gitLimits: { ...DEFAULT_READ_LIMITS, fileBytes: githubValues.maxFileBytes },
      secrets: [
        ...(github === undefined ? [] : secretsOf(github.credential)),
        ...(webhooks.secrets === undefined ? [] : [webhooks.secrets]),
      ],
    };
  },
);

/** The lowest layer of every quota's policy; annotations of its namespace and of the quota override it. */
export function policyDefaults({
  resize: { freezeUntil, cooldownMinutes, guardrails = [BUILT_IN_GUARDRAIL], ...settings },
  timings,
}: {
  readonly resize: ValuesOf<typeof policySettings>;
  readonly timings: Pick<ValuesOf<typeof timingSettings>, 'rejectionCooldown'>;
}): PolicyDefaults {
  return {
    ...settings,
    guardrails,
    cooldown: cooldownMinutes * MINUTE_MS,
    freezeUntil: freezeUntil ?? null,
    rejectionCooldown: timings.rejectionCooldown,
  };
}
