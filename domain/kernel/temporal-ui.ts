/** Where Temporal's UI shows the workflows of this process. */
export interface TemporalUi {
  /** Without a slash at its end. */
  readonly url: string;
  /** Temporal's namespace. */
  readonly namespace: string;
}

/** The page of a workflow in Temporal's UI. */
export function workflowUrl({ url, namespace }: TemporalUi, workflowId: string): string {
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
