import { afterAll, beforeAll } from 'vitest';
import { accessTests } from './kubernetes/access.ts';
import { type Cluster, startCluster } from './kubernetes/cluster.ts';
import { demandTests } from './kubernetes/demand.ts';
import { sourceCandidateTests } from './kubernetes/source-candidates.ts';
import { leaseGcTests } from './kubernetes/lease-gc.ts';
import { fileLockTests } from './kubernetes/file-lock.ts';
import { mergeGateTests } from './kubernetes/merge-gate.ts';
import { leaseTests } from './kubernetes/lease.ts';
import { observingWritesTests } from './kubernetes/observing-writes.ts';
import { quotaTests } from './kubernetes/quota.ts';

// One control plane for all of them: the last tests read its audit log for what the worker's role is used for, and
// break its API server.
let cluster: Cluster | undefined;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster?.stop();
});

function running(): Cluster {
  if (cluster === undefined) throw new Error('the control plane did not start');
  return cluster;
}

demandTests(running);
quotaTests(running);
leaseTests(running);
observingWritesTests(running);
fileLockTests(running);
mergeGateTests(running);
leaseGcTests(running);
sourceCandidateTests(running);
accessTests(running);
