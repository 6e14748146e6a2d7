/** Finding one ResourceQuota in the text of a file: by kind, name and namespace, exactly. */
import { type QuotaNode, scanStream } from './document.ts';

/** A ResourceQuota by its name in the cluster. */
export interface QuotaName {
  readonly namespace: string;
  readonly name: string;
}

/** The quotas of a text that are the wanted one; those that name its namespace rule out those that name none. */
export function matchingQuotas(
  text: string,
  { namespace, name }: QuotaName,
): { readonly exact: readonly QuotaNode[]; readonly unnamed: readonly QuotaNode[] } & ReturnType<typeof scanStream> {
  // First only the documents with both words in their text, because in one file of a thousand namespaces every quota has
  // the same name.
  const scan = scanStream(text, [name, namespace]);
  const exact = scan.quotas.filter((quota) => quota.name === name && quota.namespace === namespace);
  if (exact.length > 0) {
    return { ...scan, exact, unnamed: [] };
  }
  const wide = scanStream(text, [name]);
  return {
    ...wide,
    exact,
    unnamed: wide.quotas.filter((quota) => quota.name === name && quota.namespace === undefined),
  };
}
