/** The charts of deploy/ as Helm renders them. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { resolveServer } from '../resolver/resolve-server.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** Where Headroom is by default. */
export const SYSTEM_NAMESPACE = 'namespace-resizer-system';

export interface RenderOptions {
  readonly chart?: 'chart' | 'chart-crds';
  /** The namespace of the release. */
  readonly namespace?: string;
}

/**
 * What `helm template` prints for these values.
 *
 * @throws Error with Helm's words, such as which value its schema does not allow.
 */
export async function renderChart(
  values: object = {},
  { chart = 'chart', namespace = SYSTEM_NAMESPACE }: RenderOptions = {},
): Promise<string> {
  // A helm that is built here knows no version of Kubernetes.
  const flags = ['--namespace', namespace, '--kube-version', '1.30.0', '--values', '-'];
  const name = chart === 'chart' ? 'headroom' : 'headroom-crds';
  return await runHelm(['template', name, `${DEPLOY}${chart}`, ...flags], JSON.stringify(values));
}

/**
 * @param input what Helm reads where a file is called `-`.
 * @throws Error with Helm's words where it fails.
 */
export async function runHelm(
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(await resolveServer('helm'), args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`helm ${args[0]}: ${problems.trim()}`);
  return output;
}

/** The text of install.yaml: the default values, with the namespace, which `kubectl apply` does not make by itself. */
export async function installManifest(): Promise<string> {
  return `${INSTALL_HEADER}${await renderChart({ namespace: { create: true } })}`;
}

const INSTALL_HEADER = `# Written by \`npm run manifests\`: the chart with its default values, for kubectl and kustomize. Another choice of controllers is another
# rendering of the chart: helm template headroom deploy/chart --namespace ${SYSTEM_NAMESPACE} --values values.yaml
`;
