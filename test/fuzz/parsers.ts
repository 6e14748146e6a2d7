/**
 * What must hold of each parser for any input: `npm run fuzz` tries a hundred thousand inputs of each, the unit test some
 * hundreds with a fixed seed.
 */
import { createHmac } from 'node:crypto';
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { CronProblem, parseCron } from '../../domain/kernel/cron.ts';
import { int64Quantity, int64Value } from '../../domain/kernel/int64-quantity.ts';
import { formatQuantity, isQuantity, parseQuantity, QuantityError, scaledValue } from '../../domain/kernel/quantity.ts';
import { nextRun, previousRun } from '../../domain/lights-out/schedule/cron-runs.ts';
import { parseAdmissionMessage } from '../../domain/quota-resize/demand/event-message.ts';
import { editLocation, limitsInGit } from '../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { SourceCandidate } from '../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { locateQuota } from '../../domain/quota-resize/git/locate/search/locate-quota.ts';
import { approvalAnnotations, readLeaseApproval } from '../../domain/quota-resize/model/lease-approval.ts';
import { resolvePolicy } from '../../domain/quota-resize/policy/resolve.ts';
import { ConfigError } from '../../platform/config/config-problem.ts';
import { loadConfig } from '../../starter/config.ts';
import { createReceiver } from '../../starter/quota-resize/webhooks/receive.ts';
import { defaults } from '../domain/quota-resize/policy/policies.ts';
import * as fc from '../kernel/fast-check.ts';
import type { Files } from '../layouts/tree.ts';

export interface Parser {
  readonly name: string;
  /** How much an input costs, compared with a quantity: the unit test tries as many fewer. */
  readonly cost: number;
  readonly property: fc.IRawProperty<unknown>;
}

const words = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pieces) }, fc.string({ maxLength: 4 })), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));

/** A valid text with pieces inserted, removed and repeated. */
function damaged(valid: string, ...pieces: readonly string[]): fc.Arbitrary<string> {
  const change = fc.tuple(
    fc.nat(valid.length),
    fc.nat(6),
    fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })),
  );
  return fc
    .array(change, { maxLength: 4 })
    .map((changes) =>
      changes.reduce((text, [at, removed, piece]) => text.slice(0, at) + piece + text.slice(at + removed), valid),
    );
}

const quantity = words('1', '0', '12', '.', '-', '+', 'e', 'E', 'm', 'n', 'u', 'k', 'Ki', 'Mi', 'Gi', 'E6', 'e-3', ' ');

const quantities = fc.property(quantity, (text) => {
  if (!isQuantity(text)) {
    try {
      parseQuantity(text);
    } catch (error) {
      ok(error instanceof QuantityError);
      return;
    }
    throw new Error(`${text} is read although it is no quantity`);
  }
  const read = parseQuantity(text);
  const canonical = formatQuantity(read);
  equal(parseQuantity(canonical).nano, read.nano);
  equal(formatQuantity(parseQuantity(canonical)), canonical);
  // What fits an int64 is the same whichever way it is held.
  if (read.nano < 0n || scaledValue(read, -3) >= 2n ** 63n) return;
  for (const exponent of [0, -3]) equal(int64Value(int64Quantity(text), exponent), scaledValue(read, exponent));
});

const events = fc.property(
  words(
    'Error creating: ',
    '(combined from similar events): ',
    'pods "web-0" is forbidden: ',
    'exceeded quota: ',
    'q, ',
    'requested: ',
    'used: ',
    'limited: ',
    'pods=1',
    'limits.cpu=2',
    ',',
    ', ',
    '=',
    '"',
    '__proto__=1',
    'must specify ',
    'create Pod web-0 in StatefulSet web failed error: ',
    'failed quota: q: ',
    '\n',
    '_https://a',
  ),
  (message) => {
    const read = parseAdmissionMessage(message);
    ok(typeof read.class === 'string');
    equal(Object.getPrototypeOf(read), Object.prototype);
    for (const amounts of 'requested' in read ? [read.requested, read.used, read.limited] : []) {
      ok(Object.values(amounts).every((amount) => typeof amount === 'string'));
      equal(Object.getPrototypeOf(amounts), Object.prototype);
    }
  },
);

const settingNames = [
  'mode',
  'threshold',
  'increment',
  'cooldown',
  'max-step',
  'auto-merge',
  'approval',
  'git-path',
  'git-field',
  'git-ref',
  'git-repository',
  'pods-max',
  'requests.cpu-min',
  'freeze-until',
  'merge-windows',
  '__proto__',
  'constructor',
  'thresholt',
];
const annotation = fc.tuple(
  fc.oneof(fc.constantFrom(...settingNames), fc.string({ maxLength: 8 })),
  words(
    '80',
    '%',
    '1h',
    '2',
    'true',
    'never',
    'observe',
    'propose',
    '0 6 * * 1-5',
    ' for 8h',
    ' in Europe/Berlin',
    '..',
    '/',
    '{{ .Namespace }}',
    '["',
    '10Gi',
    ';',
  ),
);

const annotations = fc.property(fc.array(annotation, { maxLength: 5 }), (pairs) => {
  const written = Object.fromEntries(pairs.map(([name, value]) => [`resizer.io/${name}`, value]));
  const { warnings } = resolvePolicy({
    defaults,
    namespace: { name: 'team-a', annotations: written },
    quotaAnnotations: {},
  });
  for (const { key, message } of warnings) {
    ok(Object.hasOwn(written, key), `${key} was not written`);
    // A name that Kubernetes does not allow is quoted in another way.
    if (/^[\w./-]+$/.test(key)) ok(message.includes(key), message);
  }
});

const APPROVAL = {
  'resizer.io/approved-by': 'alice',
  'resizer.io/approval':
    '{"at":"2026-01-01T00:00:00Z","reason":"why","decision":"0a1b2c3d","limits":{"pods":"4","quota b: pods":"5"},"headSha":"","places":{}}',
};

const leaseApprovals = fc.property(
  fc.constantFrom('alice', '', 'system:serviceaccount:a:b'),
  damaged(APPROVAL['resizer.io/approval'], '"', '{}', '\\u0071uota ', '"__proto__":', 'null', '[', ','),
  (by, text) => {
    const written = { 'resizer.io/approved-by': by, 'resizer.io/approval': text };
    const { approval, problem } = readLeaseApproval(written);
    if (approval === null) return ok(problem !== null || (by === '' && text === ''), text);
    equal(approval.by, by);
    deepStrictEqual(readLeaseApproval(approvalAnnotations(approval)), { approval, problem: null });
    // The policy of the API server looks for these words to ask for the right to approve every quota.
    if (Object.keys(approval.limits).some((key) => key.startsWith('quota '))) ok(text.includes('"quota '), text);
  },
);

const environment = [
  'HEADROOM_MODE',
  'GIT_PATH_TEMPLATE',
  'GITHUB_REPOSITORIES',
  'GITHUB_API_URL',
  'TEMPORAL_ADDRESS',
  'LOG_LEVEL',
  'CLUSTER_NAME',
];

const GUARDRAILS = `- name: prod
  namespaces: { names: ["team-*"], labels: { matchLabels: { tier: prod } } }
  max: { cpu: 200, requests.memory: 1Ti }
  growthPerDay: 4
  leastCooldown: 2h
  mergeWindows: ["0 9 * * 1-5 for 8h in Europe/Berlin"]
  approvalBy: verified
- name: rest
`;

const settings = fc.property(
  fc.array(
    fc.oneof(
      fc.tuple(
        fc.constantFrom(...environment),
        words('1', 'true', 'a/b', '@main', ',', 'http://', '{{ .Cluster }}', '..', ':7233', '\n'),
      ),
      fc.tuple(
        fc.constant('HEADROOM_GUARDRAILS'),
        damaged(GUARDRAILS, '-', ' ', '{', '}', '"*"', '&a', '*a', '<<:', 'In', '-1', '1e99', '__proto__: {}', '\n'),
      ),
    ),
    { maxLength: 4 },
  ),
  (pairs) => {
    const env = { CLUSTER_NAME: 'kind', ...Object.fromEntries(pairs), HOME: '/nowhere' };
    try {
      loadConfig({ env, argv: [] });
    } catch (error) {
      ok(error instanceof ConfigError, String(error));
      ok(
        pairs.some(([name]) => error.message.includes(name)),
        error.message,
      );
    }
  },
);

const SECRET = 'a secret of a webhook';
const body = fc.oneof(
  fc.json(),
  damaged(
    '{"action":"closed","number":1,"pull_request":{"number":1},"repository":{"full_name":"acme/gitops"}}',
    '"',
    '{}',
    'null',
    '[',
    '\u0000',
    '"__proto__":{},',
  ),
);

const webhooks = fc.asyncProperty(
  body,
  fc.constantFrom('pull_request', 'push', 'check_run', 'ping', '__proto__', ''),
  fc.nat(70),
  async (text, event, changed) => {
    const receive = createReceiver({ cluster: 'prod', secrets: () => [SECRET], find: () => [], request: () => {} });
    const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;
    const bytes = Buffer.from(text);
    const delivery = { event, id: 'delivery-1', length: bytes.length, body: [bytes] };
    const { outcome } = await receive({ ...delivery, signature });
    equal(outcome === 'unsigned', text === '');
    const other = signature[changed] === '0' ? '1' : '0';
    const forged = signature.slice(0, changed) + other + signature.slice(changed + 1);
    equal((await receive({ ...delivery, signature: forged })).outcome, 'unsigned');
  },
);

const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['pods'] };
const anywhere: SourceCandidate = { from: 'scan', learntFrom: 'a search' };

/** Every answer is one; an edit that is made is found again, and leaves all other documents of the file as they were. */
function raisesOnlyTheQuota(files: Files): void {
  const tree = { paths: Object.keys(files).toSorted(), texts: new Map(Object.entries(files)) };
  const answer = locateQuota(tree, wanted, anywhere);
  if (answer.kind !== 'located' || answer.location.values['pods'] === undefined) return;
  const edited = editLocation(tree, answer.location, { pods: '77' });
  if (edited.kind !== 'edited' || edited.edits.length === 0) return;
  const after = new Map([...tree.texts, ...edited.edits.map(({ path, after: text }) => [path, text] as const)]);
  const again = locateQuota({ paths: [...after.keys()].toSorted(), texts: after }, wanted, anywhere);
  ok(again.kind === 'located', JSON.stringify(again));
  deepStrictEqual(limitsInGit(again.location, ['pods']), { pods: '77' });
  for (const { path, before, after: text } of edited.edits) {
    if (before === null) continue;
    const [was, is] = [before, text].map((content) => parseAllDocuments(content).length);
    equal(is, was, path);
  }
}

const QUOTA =
  'x: &a {pods: 9}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: 1\n    cpu: "2"\n';
const yamlPieces = [
  '---\n',
  '...\n',
  '"',
  "'",
  '{{ .x }}',
  '&a ',
  '*a',
  '<<: *a\n',
  '- ',
  '|\n',
  '\t',
  '\r\n',
  '\uFEFF',
  '\u2028',
  'pods: 1\n',
  '? ',
  '!!int ',
  '{',
  '}',
  '#',
  '  ',
];

const yamlEdits = fc.property(damaged(QUOTA, ...yamlPieces), (text) => raisesOnlyTheQuota({ 'a.yaml': text }));

const KUSTOMIZATION =
  'namespace: team-a\nnamePrefix: ""\nresources:\n- ../base\npatches:\n- path: patch.yaml\n- target: {kind: ResourceQuota, name: comp.*}\n  patch: |-\n    - op: replace\n      path: /spec/hard/pods\n      value: 5\n';
const kustomize = fc.property(
  damaged(
    KUSTOMIZATION,
    ...yamlPieces,
    '../overlay',
    '../base',
    'components:\n- ../base\n',
    '(a|a)*',
    '~1',
    'remove',
    'https://x',
  ),
  damaged(
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute}\nspec:\n  hard:\n    pods: 3\n',
    ...yamlPieces,
    '$patch: delete\n',
  ),
  (kustomization, patch) =>
    raisesOnlyTheQuota({
      'base/kustomization.yaml': 'resources:\n- quota.yaml\n',
      'base/quota.yaml': QUOTA.replace('  namespace: team-a\n', ''),
      'overlay/kustomization.yaml': kustomization,
      'overlay/patch.yaml': patch,
    }),
);

const TEMPLATE =
  '{{- range $ns, $hard := .Values.quotas }}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: {{ $.Values.name | default "compute" }}\n  namespace: {{ $ns }}\nspec:\n  hard:\n    pods: {{ $hard.pods | quote }}\n{{- end }}\n';
const helm = fc.property(
  damaged(
    TEMPLATE,
    '{{',
    '}}',
    '{{ end }}',
    '{{ if .Values.a }}',
    '(',
    ')',
    '|',
    '"',
    '`',
    '{{/*',
    'index .Values ',
    '$',
    '\n',
  ),
  damaged('name: compute\nquotas:\n  team-a:\n    pods: 2\n  team-b:\n    pods: 3\n', ...yamlPieces),
  (template, values) =>
    raisesOnlyTheQuota({
      'chart/Chart.yaml': 'name: quotas\nversion: 1.0.0\n',
      'chart/templates/quota.yaml': template,
      'chart/values.yaml': values,
    }),
);

const cron = fc.property(
  fc.array(words('*', '0', '5', '31', '1-5', '*/2', ',', '/', '-', 'MON', 'jan', '?', 'L', '60'), { maxLength: 6 }),
  fc.integer({ min: 0, max: 4_000_000_000_000 }),
  (fields, at) => {
    const text = fields.join(' ');
    try {
      parseCron(text);
    } catch (error) {
      ok(error instanceof CronProblem, String(error));
      return;
    }
    const next = nextRun(text, 'UTC', at);
    ok(next === null || next > at);
    // Nothing runs between a moment and its next run.
    if (next !== null) equal(previousRun(text, 'UTC', next), next);
  },
);

export const parsers: readonly Parser[] = [
  { name: 'quantities', cost: 1, property: quantities },
  { name: 'Events', cost: 1, property: events },
  { name: 'annotations', cost: 2, property: annotations },
  { name: 'approvals in Leases', cost: 2, property: leaseApprovals },
  { name: 'settings', cost: 20, property: settings },
  { name: 'webhooks', cost: 4, property: webhooks },
  { name: 'YAML edits', cost: 10, property: yamlEdits },
  { name: 'kustomize', cost: 20, property: kustomize },
  { name: 'Helm', cost: 10, property: helm },
  { name: 'cron', cost: 4, property: cron },
] as readonly Parser[];
