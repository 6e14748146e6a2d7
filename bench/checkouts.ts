/** `headroom sources` and `headroom plan --all` as whole processes, on large checkouts that are generated in a temporary folder. */
import { generateCheckout } from '../test/layouts/generate.ts';
import type { Files } from '../test/layouts/tree.ts';
import { inCheckout } from './checkout-command.ts';

const QUOTAS = 1_500;
const FILES = 22_000;

const teams = Array.from({ length: QUOTAS }, (_, index) => `team-${index}`);

function manifest(namespace: string | null, name: string, cpu: number): string {
  const metadata = namespace === null ? `{name: ${name}}` : `{name: ${name}, namespace: ${namespace}}`;
  return `apiVersion: v1\nkind: ResourceQuota\nmetadata: ${metadata}\nspec:\n  hard:\n    requests.cpu: "${cpu}" # cores\n    pods: 20\n`;
}

function indented(text: string, by: string): string {
  return text.trimEnd().replaceAll('\n', `\n${by}`);
}

/** The quotas of all namespaces in one file each time, as teams of a platform keep them. */
const shapes: Readonly<Record<string, Files>> = {
  'every layout, a folder each': generateCheckout(20261121, { quotas: QUOTAS, others: 0 }).files,
  'one manifest of many documents': {
    'quotas.yaml': teams.map((team, index) => manifest(team, 'compute', index + 1)).join('---\n'),
  },
  'one List': {
    'quotas.yaml': `apiVersion: v1\nkind: List\nitems:\n${teams.map((team, index) => `- ${indented(manifest(team, 'compute', index + 1), '  ')}\n`).join('')}`,
  },
  'one values file of a chart': {
    'chart/Chart.yaml': 'name: quotas\nversion: 1.0.0\n',
    'chart/templates/quota.yaml':
      '{{- range $namespace, $hard := .Values.quotas }}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: {{ $namespace }}\nspec:\n  hard:\n    {{- toYaml $hard | nindent 4 }}\n{{- end }}\n',
    'chart/values.yaml': `quotas:\n${teams.map((team, index) => `  ${team}:\n    requests.cpu: "${index + 1}" # cores\n    pods: 20\n`).join('')}`,
  },
  'a base patched inline by one overlay': {
    'base/kustomization.yaml': 'resources:\n- quotas.yaml\n',
    'base/quotas.yaml': teams.map((team, index) => manifest(null, `compute-${team}`, index + 1)).join('---\n'),
    'overlay/kustomization.yaml': `namespace: all-teams\nresources:\n- ../base\npatches:\n${teams.map((team) => `- patch: |-\n    ${indented(manifest(null, `compute-${team}`, 2), '    ')}\n`).join('')}`,
  },
  'a base that two overlays share': {
    'base/kustomization.yaml': 'resources:\n- quotas.yaml\n',
    'base/quotas.yaml': teams.map((team, index) => manifest(null, `compute-${team}`, index + 1)).join('---\n'),
    ...Object.fromEntries(
      ['east', 'west'].map((cluster) => [
        `overlays/${cluster}/kustomization.yaml`,
        `namespace: all-${cluster}\nresources:\n- ../../base\n`,
      ]),
    ),
  },
};

/** Files without quotas that fill a checkout up. */
function othersBeside(files: Files): Files {
  const others = generateCheckout(1, { quotas: 0, others: FILES - Object.keys(files).length }).files;
  return Object.fromEntries(Object.entries(others).filter(([path]) => path.startsWith('apps/')));
}

/** Prints a line for each shape of a checkout and each of the two commands. */
export async function benchCheckouts(): Promise<void> {
  for (const [name, files] of Object.entries(shapes)) {
    await inCheckout({ ...othersBeside(files), ...files }, (run) => {
      for (const args of [['sources'], ['plan', '--all', '--increment', '20%']]) {
        const { seconds, megabytes, status, stdout, stderr } = run(...args);
        const command = `headroom ${args[0]}${args.length > 1 ? ' --all' : ''}`;
        const problem = status === 0 ? '' : `, ends with ${status}: ${stderr.slice(0, 200)}`;
        const result = `${stdout.split('\n').length} lines`;
        process.stdout.write(
          `${name.padEnd(38)} ${command.padEnd(20)} ${seconds.toFixed(1).padStart(6)} s ${String(megabytes).padStart(5)} MB, ${result}${problem}\n`,
        );
      }
    });
  }
}
