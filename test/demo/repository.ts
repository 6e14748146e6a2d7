/** The GitOps repository of the demo: three teams, each with its own way of writing a quota. */
export const demoFiles: Readonly<Record<string, string>> = {
  'README.md': '# acme/gitops\n\nThe quotas of all teams. Headroom proposes raises here as pull requests.\n',
  'managed-resources/demo/team-a/quota.yaml': `apiVersion: v1
kind: Namespace
metadata:
  name: team-a
---
# Agreed with team A in January.
apiVersion: v1
kind: ResourceQuota
metadata:
  name: compute
  namespace: team-a
spec:
  hard:
    requests.cpu: "2" # cores
    pods: "20"
`,
  'managed-resources/demo/team-b/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-b\n',
  'managed-resources/demo/team-b/quotas.yaml': `apiVersion: v1
kind: ResourceQuota
metadata:
  name: compute
  namespace: team-b
spec:
  hard: { requests.cpu: "8", requests.memory: 32Gi }
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: objects
  namespace: team-b
spec:
  hard:
    count/deployments.apps: 10
`,
  'managed-resources/demo/team-c/all.yaml': `apiVersion: v1
kind: Namespace
metadata:
  name: team-c
  annotations:
    # Team C raises its quotas by hand.
    resizer.io/enabled: "false"
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: compute
  namespace: team-c
spec:
  hard:
    requests.cpu: 500m
`,
};
