/** Definitions in the names of cert-manager's, for an API server without it. */
const kinds = [
  { kind: 'Issuer', plural: 'issuers' },
  { kind: 'Certificate', plural: 'certificates' },
];

export const certManagerDefinitions = kinds.map(({ kind, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.cert-manager.io` },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        // In the client's own name of the field.
        schema: { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } },
      },
    ],
  },
}));
