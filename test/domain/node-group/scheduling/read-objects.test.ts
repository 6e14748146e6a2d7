import { describe, expect, it } from 'vitest';
import type { DaemonSet } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Taint } from '../../../../domain/node-group/model/pod.ts';
import { daemonConstraints } from '../../../../domain/node-group/scheduling/daemon-template.ts';
import { untolerated } from '../../../../domain/node-group/scheduling/node-selection.ts';
import {
  readAttachLimits,
  readClaim,
  readDaemonSet,
  readNode,
  readStorageClass,
  readVolume,
} from '../../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../../domain/node-group/scheduling/read-pod.ts';

describe('a node as it is read', () => {
  const CREATED = '2026-01-01T00:00:00Z';
  const WRITTEN = '2026-01-01T00:01:00Z';
  const since = (lastTransitionTime: string, managedFields: readonly unknown[] = [ofKubelet()]) =>
    new Date(
      readNode({
        metadata: { name: 'a', creationTimestamp: CREATED, managedFields },
        status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
      }).ready.since,
    ).toISOString();
  const ofKubelet = (type = 'Ready') => ({
    manager: 'kubelet',
    subresource: 'status',
    time: WRITTEN,
    fieldsV1: { 'f:status': { 'f:conditions': { [`k:{"type":"${type}"}`]: { 'f:status': {} } } } },
  });
  const iso = (time: string): string => new Date(time).toISOString();

  it('is Ready since its kubelet says so', () => {
    expect(since('2026-01-01T00:00:30Z')).toBe(iso('2026-01-01T00:00:30Z'));
  });

  it('whatever the clock of its kubelet, not since before it was created, or after the API server was told', () => {
    expect(since('2031-01-01T00:00:00Z')).toBe(iso(WRITTEN));
    expect(since('2021-01-01T00:00:00Z')).toBe(iso(CREATED));
    expect(since('2031-01-01T00:00:00Z', [ofKubelet('DiskPressure')])).toBe(iso('2031-01-01T00:00:00Z'));
  });
});

describe('a pod as it is read', () => {
  it('says when kube-scheduler has written last about it, by whoever owns the condition', () => {
    const condition = 'k:{"type":"PodScheduled"}';
    const entry = (time: unknown, key = condition, subresource = 'status') => ({
      manager: 'kube-scheduler',
      subresource,
      time,
      fieldsV1: { 'f:status': { 'f:conditions': { [key]: { 'f:message': {} } } } },
    });
    const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' };
    const writtenAt = (...managedFields: readonly unknown[]) =>
      readPod({
        metadata: { name: 'web', managedFields },
        status: { conditions: [{ ...scheduled, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
      }).unscheduled?.writtenAt;
    const at = '2026-01-01T00:05:00Z';
    expect(writtenAt(entry(at))).toBe(Date.parse(at));
    expect(writtenAt(entry(at), entry('2026-01-01T00:04:00Z'))).toBe(Date.parse(at));
    const others = [entry(at, 'k:{"type":"Ready"}'), entry(at, condition, 'scale'), entry('x'), { time: at }, null];
    expect(others.map((other) => writtenAt(other))).toEqual([null, null, null, null, null]);
    expect(writtenAt()).toBeNull();
  });

  it('has local volumes on disk, and claims that are called after it', () => {
    const pod = readPod({
      metadata: { name: 'db-0', annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'team/owner': 'a' } },
      spec: {
        volumes: [
          { name: 'tmp', emptyDir: {} },
          { name: 'fast', emptyDir: { medium: 'Memory' } },
          { name: 'host', hostPath: { path: '/var' } },
          { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
          { name: 'scratch', ephemeral: {} },
        ],
        topologySpreadConstraints: [
          { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
          { topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
    });
    expect(pod.localVolumes).toEqual(['tmp', 'host']);
    expect(pod.claims).toEqual(['data-db-0', 'db-0-scratch']);
    expect(pod.spread).toHaveLength(1);
    expect(pod.annotations).toEqual({ 'karpenter.sh/do-not-disrupt': 'true' });
    expect(pod.gracePeriodSeconds).toBe(30);
  });
});

describe('the other objects as they are read', () => {
  it('a DaemonSet is its template as far as scheduling goes', () => {
    const set = readDaemonSet({
      metadata: { namespace: 'kube-system', name: 'proxy', uid: 'u' },
      spec: {
        template: {
          metadata: { labels: { app: 'proxy' } },
          spec: {
            containers: [{ name: 'a', image: 'app', env: [], resources: { requests: { cpu: '100m' } } }],
            dnsPolicy: 'ClusterFirst',
            nodeSelector: { disk: 'ssd' },
          },
        },
      },
    });
    expect(set).toMatchObject({ name: 'proxy', labels: { app: 'proxy' }, generation: null, hasNoPods: false });
    expect(set.template).toEqual({
      containers: [{ resources: { requests: { cpu: '100m' } } }],
      nodeSelector: { disk: 'ssd' },
    });
  });

  it('a DaemonSet has no pods where its controller says so of what it has seen', () => {
    const hasNoPods = (generation: number, status: object): boolean =>
      readDaemonSet({ metadata: { generation }, status: { observedGeneration: 1, ...status } }).hasNoPods;
    const none = { desiredNumberScheduled: 2, currentNumberScheduled: 0 };
    expect(hasNoPods(1, none)).toBe(true);
    expect(hasNoPods(2, none)).toBe(false);
    expect(hasNoPods(1, { ...none, currentNumberScheduled: 1 })).toBe(false);
    expect(hasNoPods(1, { desiredNumberScheduled: 0 })).toBe(false);
  });

  it('a pod of a DaemonSet tolerates what its controller lets it, and the network that is still to come in that of the host', () => {
    const template = (hostNetwork: boolean) => readDaemonSet({ spec: { template: { spec: { hostNetwork } } } });
    const toleratesAt = (set: DaemonSet, key: string, effect: Taint['effect']): boolean =>
      untolerated(daemonConstraints(set, { limitRanges: [], runtimeClasses: [] }).tolerations, [
        { key: `node.kubernetes.io/${key}`, effect },
      ]) === null;
    expect(toleratesAt(template(false), 'not-ready', 'NoExecute')).toBe(true);
    expect(toleratesAt(template(false), 'not-ready', 'NoSchedule')).toBe(false);
    expect(toleratesAt(template(false), 'disk-pressure', 'NoSchedule')).toBe(true);
    expect(toleratesAt(template(false), 'network-unavailable', 'NoSchedule')).toBe(false);
    expect(toleratesAt(template(true), 'network-unavailable', 'NoSchedule')).toBe(true);
  });

  it('a claim has a volume once it is bound', () => {
    const metadata = { namespace: 'team-a', name: 'data' };
    expect(readClaim({ metadata, spec: { storageClassName: 'fast' } })).toMatchObject({
      volume: null,
      storageClass: 'fast',
      isLost: false,
    });
    const spec = { volumeName: 'pv-1' };
    expect(readClaim({ metadata, spec })).toMatchObject({ volume: null, wantedVolume: 'pv-1' });
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    const bound = { metadata: { ...metadata, annotations }, spec };
    expect(readClaim({ ...bound, status: { phase: 'Lost' } })).toMatchObject({ volume: 'pv-1', isLost: true });
  });

  it('a volume is where its node affinity says, and counts for its CSI driver', () => {
    const terms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
    expect(
      readVolume({
        metadata: { name: 'pv-1' },
        spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } }, csi: { driver: 'd', volumeHandle: 'h' } },
      }),
    ).toMatchObject({ nodeAffinity: terms, driver: 'd', handle: 'h', isLocal: false });
    expect(readVolume({ metadata: { name: 'pv-2' }, spec: { local: { path: '/disk' } } })).toMatchObject({
      nodeAffinity: null,
      driver: null,
      handle: 'pv-2',
      isLocal: true,
    });
  });

  it('a class binds at once unless it waits for a pod', () => {
    expect(readStorageClass({ metadata: { name: 'fast' }, provisioner: 'p' })).toMatchObject({
      bindsAtOnce: true,
      allowedTopologies: null,
    });
    const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }];
    expect(
      readStorageClass({ metadata: { name: 'slow' }, volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies }),
    ).toMatchObject({
      bindsAtOnce: false,
      allowedTopologies: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }],
    });
  });

  it('a CSINode limits the drivers that say a count', () => {
    const drivers = [{ name: 'd', allocatable: { count: 25 } }, { name: 'e' }];
    expect(readAttachLimits({ metadata: { name: 'n' }, spec: { drivers } })).toEqual({ node: 'n', limits: { d: 25 } });
  });
});
