import type { ResourceList } from '../../../../domain/kernel/resource-list.ts';
import { contentReader, isMissingFiles } from './content-reader.ts';

/** The limits of a quota in the text of a file; none when it is not there, or takes too much to read. */
export async function limitsInText(
  text: string,
  quota: { readonly namespace: string; readonly name: string },
  resources: readonly string[],
): Promise<ResourceList> {
  const path = 'file.yaml';
  const outcome = await contentReader.ask(
    { paths: [path], texts: new Map([[path, text]]) },
    { kind: 'limits', path, quota, resources },
    { cpuMs: contentReader.options.cpuMs, isForEachFile: false },
  );
  if (outcome.kind === 'tooMuch' || isMissingFiles(outcome.answer) || outcome.answer.kind !== 'limits') return {};
  return outcome.answer.limits;
}
