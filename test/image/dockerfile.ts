import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** What is read of deploy/Dockerfile, which has two stages. */
interface Dockerfile {
  /** The paths of the checkout that are copied to where it is built. */
  readonly copied: readonly string[];
  /** Those that .dockerignore lets through. */
  readonly sent: readonly string[];
  readonly runs: readonly string[];
  readonly base: string;
  readonly final: readonly Instruction[];
}

export async function readDockerfile(): Promise<Dockerfile> {
  const [text, ignore] = await Promise.all(
    ['Dockerfile', 'Dockerfile.dockerignore'].map(async (file) => await readFile(join(DEPLOY, file), 'utf8')),
  );
  const lines = (text ?? '').replaceAll('\\\n', '').split('\n');
  const instructions = lines.flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    return name === undefined || rest === undefined ? [] : [{ name, text: rest }];
  });
  const stages = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  const build = instructions.slice(stages[0], stages[1]);
  const of = (name: string): readonly string[] => build.filter((one) => one.name === name).map((one) => one.text);
  return {
    copied: of('COPY').flatMap((paths) => paths.split(' ').slice(0, -1)),
    sent: [...(ignore ?? '').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path),
    runs: of('RUN'),
    base: instructions.find(({ name, text: rest }) => name === 'ARG' && rest.startsWith('BASE_DIGEST='))?.text ?? '',
    final: instructions.slice(stages[1]),
  };
}

/** The `config` of an image that the last stage makes, without its labels. */
export function configOf(final: readonly Instruction[]): Readonly<Record<string, unknown>> {
  const last = (name: string): string => final.findLast((one) => one.name === name)?.text ?? '';
  return {
    User: last('USER'),
    Env: final.filter(({ name }) => name === 'ENV').flatMap(({ text }) => text.split(' ')),
    Entrypoint: JSON.parse(last('ENTRYPOINT')) as unknown,
    Cmd: JSON.parse(last('CMD')) as unknown,
    WorkingDir: last('WORKDIR'),
  };
}

/** The labels, with variables as they are written. */
export function labelsOf(final: readonly Instruction[]): Readonly<Record<string, string>> {
  const text = final.find(({ name }) => name === 'LABEL')?.text ?? '';
  return Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, key = '', quoted, plain]) => [
      key,
      quoted ?? plain ?? '',
    ]),
  );
}
