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
import { type DoctorContext, serviceAccountOf } from './context.ts';
import type { Findings } from './finding.ts';

const MEND =
  'Apply write-policy.yaml and approval-policy.yaml of the chart (deploy/chart/templates), rendered for the namespace that Headroom runs in.';

interface Held {
  readonly process: 'worker' | 'starter';
  readonly policy: string;
  readonly trials: readonly PolicyTrial[];
  /** Whether the policy names the account that it holds. */
  readonly namesAccount: boolean;
}

export async function lookAtPolicies(context: DoctorContext, findings: Findings): Promise<void> {
  const { config, accounts } = context;
  const { systemNamespace, writePolicy } = config.kubernetes;
  const all: readonly Held[] = [
    { process: 'worker', policy: policyOf(accounts.worker), trials: workerTrials(systemNamespace), namesAccount: true },
    { process: 'starter', policy: policyOf(accounts.starter), trials: writeTrialsOf(config), namesAccount: true },
    { process: 'worker', policy: APPROVAL_POLICY, trials: [approvalTrial(systemNamespace)], namesAccount: false },
  ];
  for (const held of all) {
    if (held.trials.length === 0) findings.ok(`With these settings the ${held.process} writes nothing to the cluster.`);
    else if (await mayAskAs(context, accounts[held.process])) await tryIt(context, held, findings);
    else await readIt(context, held, findings);
  }
  if (writePolicy === 'observed') {
    findings.warning(
      'writePolicy is observed: where the policy of writes is not in force, everything is written all the same.',
      'Set HEADROOM_WRITE_POLICY=required.',
    );
  }
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
  { kubeConfig, self, as, accounts }: DoctorContext,
  { process, policy, trials }: Held,
  findings: Findings,
): Promise<void> {
  const user = accounts[process];
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
    else if (proof.isUntold) findings.unknown(`${trouble}.`, 'Let whoever refuses the trial leave it out.');
    else findings.wrong(`${trouble}.`, MEND);
  } finally {
    if (asked !== kubeConfig) await asked.close();
  }
}

/** What is written down: it does not show what the policy does. */
async function readIt(
  { kubeConfig, accounts }: DoctorContext,
  { process, policy: name, namesAccount }: Held,
  findings: Findings,
): Promise<void> {
  const api = kubeConfig.makeApiClient(AdmissionregistrationV1Api);
  const account = accounts[process];
  const policy = await orNull(api.readValidatingAdmissionPolicy({ name }));
  if (policy === null) {
    findings.wrong(`There is no ValidatingAdmissionPolicy ${name}.`, MEND);
    return;
  }
  const conditions = policy.spec?.matchConditions ?? [];
  if (namesAccount && !conditions.some(({ expression }) => expression.includes(`'${account}'`))) {
    findings.wrong(`The ValidatingAdmissionPolicy ${name} does not name ${account}, so it does not hold it.`, MEND);
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
