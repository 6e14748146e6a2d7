/** Whether the policies that hold worker and starter are in force: tried as these accounts where that is allowed, else read. */
import {
  AdmissionregistrationV1Api,
  AuthorizationV1Api,
  type V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import { PolicyProof, type PolicyTrial } from '../../../activities/kernel/policy-proof.ts';
import { orNull } from '../../../activities/kubernetes/failure.ts';
import { workerTrials } from '../../../activities/kernel/worker-trials.ts';
import { APPROVAL_POLICY, approvalTrial } from '../../../activities/quota-resize/lease/approval-policy.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { writeTrialsOf } from '../../policies.ts';
import type { Config } from '../../config.ts';
import { type Account, type DoctorContext, serviceAccountOf } from './context.ts';
import type { Findings } from './finding.ts';

const MEND =
  'Apply write-policy.yaml and approval-policy.yaml of the chart (deploy/chart/templates), rendered for the namespace that Headroom runs in.';

interface Held extends Account {
  readonly policy: string;
  readonly trials: readonly PolicyTrial[];
  /** Whether the policy names the account that it holds. */
  readonly namesAccount: boolean;
}

export async function lookAtPolicies(context: DoctorContext, findings: Findings): Promise<void> {
  const { config, accounts } = context;
  const { systemNamespace, writePolicy } = config.kubernetes;
  const approving = accounts.filter(
    ({ process, pair }) => process === 'worker' && (pair ?? 'quota-resize') === 'quota-resize',
  );
  const all: readonly Held[] = [
    ...accounts.map((account) => ({
      ...account,
      policy: policyOf(account.user),
      trials: account.process === 'worker' ? workerTrials(systemNamespace) : writeTrialsOf(configOf(account, config)),
      namesAccount: true,
    })),
    ...approving.map((account) => ({
      ...account,
      policy: APPROVAL_POLICY,
      trials: [approvalTrial(systemNamespace)],
      namesAccount: false,
    })),
  ];
  for (const held of all) {
    if (held.trials.length === 0) findings.ok(`With these settings ${held.user} writes nothing to the cluster.`);
    else if (await mayAskAs(context, held.user)) await tryIt(context, held, findings);
    else await readIt(context, held, findings);
  }
  if (writePolicy === 'observed') {
    findings.warning(
      'writePolicy is observed: where the policy of writes is not in force, Headroom writes all the same.',
      'Set HEADROOM_WRITE_POLICY=required.',
    );
  }
}

/** As the process has it. */
function configOf({ pair }: Account, config: Config): Config {
  return pair === null ? config : { ...config, runs: new Set([pair]) };
}

function policyOf(account: string): string {
  return `${account.split(':').at(-1)}-writes`;
}

async function mayAskAs({ kubeConfig, self }: DoctorContext, user: string): Promise<boolean> {
  if (user === self) return true;
  const account = serviceAccountOf(user);
  const whom = account === null ? { resource: 'users', name: user } : { resource: 'serviceaccounts', ...account };
  const resourceAttributes = { group: '', verb: 'impersonate', ...whom };
  const body = { spec: { resourceAttributes } };
  const { status } = await kubeConfig.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body });
  return status?.allowed === true;
}

async function tryIt(
  { kubeConfig, self, as }: DoctorContext,
  { user, policy, trials }: Held,
  findings: Findings,
): Promise<void> {
  const asked = user === self ? kubeConfig : as(user);
  try {
    const proof = new PolicyProof({
      kubeConfig: asked,
      trials,
      policyOf: () => policy,
      pace: { every: 0, retry: 0 },
      onChange: () => {},
    });
    await proof.renew(0);
    const { trouble } = proof;
    if (trouble === null) findings.ok(`${policy} refuses ${user} what it has to.`);
    else if (proof.isUntold)
      findings.unknown(`${trouble}.`, 'Let the role, policy or webhook that refuses the trial leave out this account.');
    else findings.wrong(`${trouble}.`, MEND);
  } finally {
    if (asked !== kubeConfig) await asked.close();
  }
}

/** What is written down: it does not show what the policy does. */
async function readIt(
  { kubeConfig }: DoctorContext,
  { user: account, policy: name, namesAccount }: Held,
  findings: Findings,
): Promise<void> {
  const api = kubeConfig.makeApiClient(AdmissionregistrationV1Api);
  const policy = await orNull(api.readValidatingAdmissionPolicy({ name }));
  if (policy === null) {
    findings.wrong(`There is no ValidatingAdmissionPolicy ${name}.`, MEND);
    return;
  }
  const conditions = policy.spec?.matchConditions ?? [];
  if (namesAccount && !conditions.some(({ expression }) => expression.includes(`'${account}'`))) {
    findings.wrong(
      `The ValidatingAdmissionPolicy ${name} does not name ${account}, so it does not bind that account.`,
      MEND,
    );
    return;
  }
  const bindings = await listAll<V1ValidatingAdmissionPolicyBinding>((range) =>
    api.listValidatingAdmissionPolicyBinding(range),
  );
  const own = bindings.filter(({ spec }) => spec?.policyName === name);
  if (!own.some(({ spec }) => spec?.validationActions?.includes('Deny'))) {
    findings.wrong(`No binding of the ValidatingAdmissionPolicy ${name} denies.`, MEND);
    return;
  }
  findings.unknown(
    `The ValidatingAdmissionPolicy ${name} is there, with a binding that denies; whether it holds ${account} was not tried.`,
    'To try it, ask as an account that may impersonate it, or look at /readyz of the process.',
  );
}
