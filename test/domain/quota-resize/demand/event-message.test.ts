import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { eventLastSeen, parseAdmissionMessage } from '../../../../domain/quota-resize/demand/event-message.ts';

const AMOUNTS =
  'requested: limits.cpu=2,limits.memory=1Gi, used: limits.cpu=3,limits.memory=1Gi, limited: limits.cpu=4,limits.memory=1Gi';
const EXCEEDED = `pods "web-0" is forbidden: exceeded quota: team.a-quota, ${AMOUNTS}`;

describe('an admission message', () => {
  it('names the quota and every resource that was exceeded', () => {
    expect(parseAdmissionMessage(`Error creating: ${EXCEEDED}`)).toEqual({
      class: 'exceededQuota',
      combined: false,
      resource: 'pods',
      object: 'web-0',
      quota: 'team.a-quota',
      requested: { 'limits.cpu': '2', 'limits.memory': '1Gi' },
      used: { 'limits.cpu': '3', 'limits.memory': '1Gi' },
      limited: { 'limits.cpu': '4', 'limits.memory': '1Gi' },
    });
  });

  it('may stand for several, of an object that has no full name yet', () => {
    const message = `(combined from similar events): Error creating: ${EXCEEDED.replace('web-0', 'web-')}`;
    expect(parseAdmissionMessage(message)).toMatchObject({ class: 'exceededQuota', combined: true, object: 'web-' });
  });

  it.each(['create', 'Create', 'update'])(
    'of a StatefulSet names the pod, and the claim when it is about one (%s)',
    (verb) => {
      expect(parseAdmissionMessage(`${verb} Pod web-0 in StatefulSet web failed error: ${EXCEEDED}`)).toMatchObject({
        class: 'exceededQuota',
        statefulSet: 'web',
        pod: 'web-0',
      });
      const claim = `persistentvolumeclaims "data-web-0" is forbidden: exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=0, limited: requests.storage=0`;
      expect(
        parseAdmissionMessage(`${verb} Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ${claim}`),
      ).toMatchObject({
        class: 'exceededQuota',
        statefulSet: 'web',
        pod: 'web-0',
        claim: 'data-web-0',
        resource: 'persistentvolumeclaims',
        requested: { 'requests.storage': '1Gi' },
      });
    },
  );

  it('of a CronJob and of a Deployment names the group of what was denied', () => {
    const job =
      'jobs.batch "backup-1" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2';
    expect(parseAdmissionMessage(`Error creating job: ${job}`)).toMatchObject({
      resource: 'jobs',
      group: 'batch',
      object: 'backup-1',
      requested: { 'count/jobs.batch': '1' },
    });
    const replicaSet = job.replaceAll('jobs.batch', 'replicasets.apps');
    expect(parseAdmissionMessage(`Failed to create new replica set "web-5d": ${replicaSet}`)).toMatchObject({
      class: 'exceededQuota',
      replicaSet: 'web-5d',
      group: 'apps',
    });
  });

  it.each([
    [
      'pods "p" is forbidden: failed quota: q: must specify cpu for: a,b; memory for: a',
      { class: 'failedQuota', quota: 'q', raw: 'must specify cpu for: a,b; memory for: a' },
    ],
    [
      'pods "p" is forbidden: status unknown for quota: q, resources: cpu,pods',
      { class: 'statusUnknown', quota: 'q', resources: ['cpu', 'pods'] },
    ],
    ['pods "p" is forbidden: status unknown for quota: q', { class: 'statusUnknown', quota: 'q' }],
    [
      'pods "p" is forbidden: insufficient quota to consume: requests.gpu',
      { class: 'insufficientQuota', resources: ['requests.gpu'], raw: 'requests.gpu' },
    ],
    [
      'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
      { class: 'uncoveredScopes', raw: '[{PriorityClass In [high]}]' },
    ],
    ['pods "p" is forbidden: error looking up service account n/s', { class: 'notQuota', object: 'p' }],
    [
      'pods "p" is forbidden: exceeded quota: q, requested: cpu=abc, used: cpu=1, limited: cpu=1',
      { class: 'notQuota' },
    ],
    ['pods "p" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=1, limited: cp', { class: 'notQuota' }],
    ['pods "p" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu', { class: 'notQuota' }],
    ['0/3 nodes are available', { class: 'notQuota' }],
  ])('that looks alike is none: %s', (message, expected) => {
    const denial = parseAdmissionMessage(`Error creating: ${message}`);
    expect(denial).toMatchObject(expected);
  });

  it('never crashes the reader', () => {
    const words = fc.constantFrom(
      'Error creating: ',
      '(combined from similar events): ',
      'pods "p" is forbidden: ',
      'exceeded quota: q',
      ', requested: ',
      ', used: ',
      ', limited: ',
      'cpu=1',
      'cpu=',
      '=',
      ',',
      'failed quota: ',
      'status unknown for quota: ',
      '__proto__=1',
      'x',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words).map((parts) => parts.join('')),
        ),
        (message) => {
          const denial = parseAdmissionMessage(message);
          expect(denial.class).toBeTypeOf('string');
        },
      ),
    );
  });
});

describe('when an event was seen', () => {
  const at = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`;
  const times = {
    series: { lastObservedTime: at(5) },
    lastTimestamp: new Date(at(4)),
    eventTime: '2026-11-20T10:03:00.123456Z',
    firstTimestamp: at(2),
    metadata: { creationTimestamp: at(1) },
  };

  it('is told by the first of the fields that holds a time', () => {
    const { eventTime, firstTimestamp, metadata } = times;
    expect(eventLastSeen(times)).toBe(Date.parse(at(5)));
    expect(eventLastSeen({ ...times, series: null })).toBe(Date.parse(at(4)));
    expect(eventLastSeen({ eventTime, firstTimestamp, metadata, lastTimestamp: null })).toBe(Date.parse(eventTime));
    expect(eventLastSeen({ firstTimestamp, metadata, eventTime: 'soon' })).toBe(Date.parse(at(2)));
    expect(eventLastSeen({ metadata })).toBe(Date.parse(at(1)));
    expect(eventLastSeen({})).toBeNull();
  });
});
