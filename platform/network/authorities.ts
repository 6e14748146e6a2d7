import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type { ConfigProblem } from '../../domain/kernel/settings/setting.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates of the authorities that are trusted: Node's own, the system's, and those of a file.
 *
 * @param file how the user named the file, and its path.
 * @returns one PEM for each; undefined for a file that cannot be used, which is a problem then.
 */
export function readAuthorities(
  { where, path }: { readonly where: string; readonly path: string },
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): readonly string[] | undefined {
  const problem = (reason: string): undefined => {
    problems.push({ where, message: `${reason}: expected a PEM file with the certificates of authorities` });
  };
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    return problem(`cannot read "${path}": ${error instanceof Error ? error.message : String(error)}`);
  }
  const given: readonly string[] = text.match(CERTIFICATE) ?? [];
  if (given.length === 0) return problem(`"${path}" has no certificate`);
  const broken = given.findIndex((pem) => !isReadable(pem));
  if (broken !== -1) return problem(`certificate ${broken + 1} of "${path}" cannot be read`);
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...given])];
}

function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
