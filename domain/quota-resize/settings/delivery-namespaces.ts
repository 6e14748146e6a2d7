/** In which namespaces the objects of Argo CD and Flux are that say where something is applied from. */
import { splitList } from '../../kernel/settings/forms.ts';

export interface DeliveryNamespaces {
  /** Of Argo CD's Applications, where a tracking id names no other. */
  readonly argocd: string;
  /** The only ones that are read; null: all are. */
  readonly only: readonly string[] | null;
}

export const DELIVERY_NAMESPACES_FORM =
  "names of namespaces, Argo CD's first, separated by commas, and * for all others, such as argocd,flux-system";

const ALL = '*';
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** @throws Error where it is no such list. */
export function parseDeliveryNamespaces(text: string): DeliveryNamespaces {
  const entries = splitList(text);
  const only = entries.filter((entry) => entry !== ALL);
  const [argocd = 'argocd'] = only;
  if (entries.length === 0 || !only.every((name) => NAME.test(name))) throw new Error(DELIVERY_NAMESPACES_FORM);
  return { argocd, only: entries.includes(ALL) ? null : only };
}

export function readsDeliveriesOf({ only }: DeliveryNamespaces, namespace: string): boolean {
  return only === null || only.includes(namespace);
}
