/** Mutating admission webhooks that change what is written, as policies of a platform do. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { GROUP } from '../../../domain/lights-out/schedule/names.ts';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';

export interface KeepingWebhook {
  /** The MutatingWebhookConfiguration that makes the API server ask it, for namespaces with this label. */
  readonly configuration: object;
  readonly stop: () => Promise<void>;
}

/** Starts a webhook that sets the replicas of every Deployment below `least` to that. */
export async function startKeepingWebhook(least: number, label: string): Promise<KeepingWebhook> {
  return await startMutatingWebhook('keeps-replicas', label, ({ spec }) =>
    spec.replicas < least ? [{ op: 'replace', path: '/spec/replicas', value: least }] : [],
  );
}

/** Starts a webhook that takes every annotation and label of a schedule off a Deployment that is written. */
export async function startStrippingWebhook(label: string): Promise<KeepingWebhook> {
  return await startMutatingWebhook('strips-marks', label, ({ metadata }) =>
    (['annotations', 'labels'] as const).flatMap((part) =>
      Object.keys(metadata[part] ?? {})
        .filter((key) => key.startsWith(`${GROUP}/`))
        .map((key) => ({ op: 'remove', path: `/metadata/${part}/${key.replaceAll('/', '~1')}` })),
    ),
  );
}

/** A webhook for the Deployments of the namespaces with a label. */
async function startMutatingWebhook(
  name: string,
  label: string,
  changes: (object: Review['object']) => readonly object[],
): Promise<KeepingWebhook> {
  const now = Date.now();
  const authority = await issueAuthority(now);
  const { certificate, key } = await issueServer('127.0.0.1', authority, now);
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { uid, object } = (JSON.parse(Buffer.concat(chunks).toString()) as { request: Review }).request;
      const patch = changes(object);
      const changed = { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
      const answer = { uid, allowed: true, ...(patch.length > 0 ? changed : {}) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: { url, caBundle: Buffer.from(authority.certificate).toString('base64') },
          rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] }],
          namespaceSelector: { matchLabels: { [label]: 'yes' } },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          // Seconds, the most that there are: it answers from a test's own process, which may have to wait for its turn.
          timeoutSeconds: 30,
        },
      ],
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Review {
  readonly uid: string;
  readonly object: {
    readonly metadata: { readonly [part in 'annotations' | 'labels']?: Readonly<Record<string, string>> };
    readonly spec: { readonly replicas: number };
  };
}
