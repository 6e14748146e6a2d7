import { oneLine } from './sentence.ts';

/** The `Status` object in an error response of the API server. */
export interface KubernetesStatus {
  readonly message?: string;
  readonly reason?: string;
  /** `name`: the object that was asked for; none where not even its kind is known. */
  readonly details?: {
    readonly kind?: string;
    readonly name?: string;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string }[];
  };
}

/** The status in the body of an error response; empty when it cannot be parsed. */
export function readKubernetesStatus(body: unknown): KubernetesStatus {
  if (typeof body !== 'string') return {};
  try {
    const status: unknown = JSON.parse(body);
    return typeof status === 'object' && status !== null ? status : {};
  } catch {
    // A proxy may respond with text or HTML.
    return { message: body.slice(0, 200).trim() };
  }
}

/** The message of the API server on one line; undefined when there is none. */
export function kubernetesMessage(body: unknown): string | undefined {
  const { message } = readKubernetesStatus(body);
  const line = typeof message === 'string' ? oneLine(message) : '';
  return line === '' ? undefined : line;
}
