import { oneLine } from './sentence.ts';

/** The `Status` object that the API server answers an error with. */
export interface KubernetesStatus {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string }[] };
}

/** What is in the body of an answer that is an error; empty where nothing can be read. */
export function readKubernetesStatus(body: unknown): KubernetesStatus {
  if (typeof body !== 'string') return {};
  try {
    const status: unknown = JSON.parse(body);
    return typeof status === 'object' && status !== null ? status : {};
  } catch {
    // A proxy in between answers with text or HTML.
    return { message: body.slice(0, 200).trim() };
  }
}

/** The message of the API server in one line; undefined where it gave none. */
export function kubernetesMessage(body: unknown): string | undefined {
  const { message } = readKubernetesStatus(body);
  const line = typeof message === 'string' ? oneLine(message) : '';
  return line === '' ? undefined : line;
}
