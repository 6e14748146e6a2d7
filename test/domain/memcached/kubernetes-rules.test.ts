import { expect, it } from 'vitest';
import type { WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { ownProblems } from '../../../domain/memcached/api/own-rules.ts';

const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
const budget = (limit: number | string): WrittenSpec => ({
  highAvailability: { podDisruptionBudget: { enabled: true, maxUnavailable: limit } },
});
type Peer = NonNullable<NonNullable<NonNullable<WrittenSpec['security']>['networkPolicy']>['allowedSources']>[number];
const sources = (peer: Peer): WrittenSpec => ({
  security: { networkPolicy: { enabled: true, allowedSources: [peer] } },
});

// What the API server says of the same (accepted.integration.test.ts has both directions, at random).
it.each<[WrittenSpec, string]>([
  [{ image: '' }, 'spec.image: Invalid value: "": the name of an image, without spaces around it'],
  [
    { resources: { requests: { memory: '1Gi' }, limits: { memory: '512Mi' } } },
    'spec.resources.requests[memory]: Invalid value: "1Gi": must be at most the limit of memory, which is 512Mi',
  ],
  [
    { resources: { requests: { 'example.com/device': 1 } } },
    'spec.resources.requests[example.com/device]: Invalid value: 1: must be the limit of example.com/device, which is not set',
  ],
  [
    { resources: { limits: { cpu: '-1' } } },
    'spec.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    { highAvailability: { topologySpreadConstraints: [spread, spread] } },
    'spec.highAvailability.topologySpreadConstraints[1]: Invalid value: "zone": there is one with ScheduleAnyway for this key already',
  ],
  [
    { highAvailability: { topologySpreadConstraints: [{ ...spread, minDomains: 2 }] } },
    'spec.highAvailability.topologySpreadConstraints[0].minDomains: Invalid value: 2: only with whenUnsatisfiable: DoNotSchedule',
  ],
  [
    budget('150%'),
    'spec.highAvailability.podDisruptionBudget.maxUnavailable: Invalid value: "150%": a number from 0 on, or a percentage from 0% to 100%',
  ],
  [
    { security: { podSecurityContext: { runAsUser: -1 } } },
    'spec.security.podSecurityContext.runAsUser: Invalid value: -1: a number from 0 to 2147483647',
  ],
  [sources({}), 'spec.security.networkPolicy.allowedSources[0]: Required value: must specify a peer'],
  [
    sources({ ipBlock: { cidr: '10.0.0.0' } }),
    'spec.security.networkPolicy.allowedSources[0].ipBlock: Invalid value: "10.0.0.0": an address with the length of its prefix, such as 10.0.0.0/8',
  ],
  [
    { service: { annotations: { 'a b': '' } } },
    'spec.service.annotations: Invalid value: "a b": a name of at most 63 characters, with a domain and a slash before it or not',
  ],
])('%j is refused with what would be right, and left alone where it is stored', (spec, problem) => {
  expect(ownProblems(spec)).toEqual([problem]);
  expect(ownProblems({ ...spec, replicas: 2 }, spec)).toEqual([]);
});

it.each<WrittenSpec>([
  budget('50%'),
  budget(0),
  { ...budget('half'), highAvailability: { podDisruptionBudget: { enabled: false, maxUnavailable: 'half' } } },
  { monitoring: { enabled: false, exporterImage: '' } },
  sources({ podSelector: {} }),
  { resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } } },
  { service: { annotations: { 'Example.com/Team_1': '' } } },
])('%j is taken', (spec) => {
  expect(ownProblems(spec)).toEqual([]);
});
