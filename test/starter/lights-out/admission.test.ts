import { describe, expect, it } from 'vitest';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { type AdmissionRequest, readReview } from '../../../starter/admission/review.ts';
import {
  type NamedSchedule,
  reviewDefaults,
  reviewSchedule,
  type ScheduleReviewContext,
} from '../../../starter/lights-out/admission.ts';

const good = { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', timezone: 'Europe/Berlin', namespaces: ['team-a'] };
const bad = { ...good, timezone: 'Europe/Berlni', upscale: '0 6 31 2 *' };

const alone: ScheduleReviewContext = {
  others: [],
  protectedNamespaces: ['temporal'],
  now: Date.parse('2026-03-01T12:00:00Z'),
};

const schedule = (spec: unknown, metadata: object = {}) => ({
  apiVersion: 'lightsout.techsupport.mk/v1alpha1',
  kind: 'LightsOutSchedule',
  metadata: { name: 'nights', ...metadata },
  spec,
});

/** The request as the API server sends it, with what else there is in one. */
function requestOf(request: object): AdmissionRequest {
  return readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'a-uid',
      kind: { group: 'lightsout.techsupport.mk', version: 'v1alpha1', kind: 'LightsOutSchedule' },
      operation: 'CREATE',
      name: 'nights',
      userInfo: { username: 'mona' },
      oldObject: null,
      dryRun: false,
      options: null,
      ...request,
    },
  });
}

const patchOf = ({ patch }: { readonly patch?: string }): unknown =>
  patch === undefined ? null : (JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown);

const setsUtc = [{ op: 'add', path: '/spec/timezone', value: 'UTC' }];

function named(name: string, spec: object): NamedSchedule {
  const read = readSchedule(schedule(spec, { name }));
  if (read.spec === null) throw new Error(`${name} is invalid`);
  return { name, spec: read.spec };
}

describe('the defaulting webhook', () => {
  it('sets the time zone of a schedule that names none, and nothing else', () => {
    const { timezone: _absent, ...without } = good;
    for (const spec of [without, { ...good, timezone: '' }, { ...good, timezone: null }]) {
      const response = reviewDefaults(requestOf({ object: schedule(spec) }));
      expect(response).toMatchObject({ uid: 'a-uid', allowed: true, patchType: 'JSONPatch' });
      expect(patchOf(response)).toEqual(setsUtc);
    }
    expect(reviewDefaults(requestOf({ object: schedule(good) }))).toEqual({ uid: 'a-uid', allowed: true });
    expect(reviewDefaults(requestOf({ object: schedule(bad) }))).toEqual({ uid: 'a-uid', allowed: true });
  });

  it('leaves alone what it could not patch, and a schedule whose spec nobody changed', () => {
    const spec = { ...good, timezone: '' };
    const oldObject = schedule(spec, { finalizers: ['lightsout.techsupport.mk/cleanup'] });
    for (const request of [
      { object: schedule(undefined) },
      { object: schedule(null) },
      { object: schedule('text') },
      { object: schedule([]) },
      { operation: 'UPDATE', object: schedule(spec), oldObject },
      { operation: 'UPDATE', object: schedule(spec, { deletionTimestamp: '2026-03-01T12:00:00Z' }) },
      { operation: 'DELETE', object: null, oldObject },
    ]) {
      expect(reviewDefaults(requestOf(request))).toEqual({ uid: 'a-uid', allowed: true });
    }
  });
});

describe('the validating webhook', () => {
  it('lets a good schedule pass without a word', () => {
    expect(reviewSchedule(requestOf({ object: schedule(good) }), alone)).toEqual({ uid: 'a-uid', allowed: true });
  });

  it('refuses a bad one with everything that is wrong with it in one line', () => {
    const { allowed, status } = reviewSchedule(requestOf({ object: schedule(bad) }), alone);
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(status?.message).toMatch(/^spec\.upscale: .*; spec\.timezone: .*"Europe\/Berlni"/);
  });

  it('refuses what is no schedule, in words', () => {
    for (const spec of [undefined, null, 'text', {}, { ...good, downscaleReplicas: 'two' }]) {
      const { allowed, status } = reviewSchedule(requestOf({ object: schedule(spec) }), alone);
      expect(allowed).toBe(false);
      expect(status?.message).toMatch(/^spec.*: ./);
    }
  });

  it('refuses a change that leaves a schedule bad, and lets one pass that repairs it', () => {
    const update = (spec: object) =>
      requestOf({ operation: 'UPDATE', object: schedule(spec), oldObject: schedule(bad) });
    expect(reviewSchedule(update({ ...bad, suspend: true }), alone).allowed).toBe(false);
    expect(reviewSchedule(update(good), alone).allowed).toBe(true);
  });

  it('lets pass what changes nothing of the spec, what is going, and what is no creation or change of a schedule', () => {
    const keyOrder = Object.fromEntries(Object.entries(bad).reverse());
    for (const request of [
      { operation: 'UPDATE', object: schedule(keyOrder, { finalizers: [] }), oldObject: schedule(bad) },
      {
        operation: 'UPDATE',
        object: schedule({ ...bad, suspend: true }, { deletionTimestamp: '2026-03-01T12:00:00Z' }),
        oldObject: schedule(bad),
      },
      { operation: 'UPDATE', subResource: 'status', object: schedule(bad), oldObject: schedule(good) },
      { operation: 'DELETE', object: null, oldObject: schedule(bad) },
      { operation: 'CONNECT', object: schedule(bad) },
    ]) {
      expect(reviewSchedule(requestOf(request), alone)).toEqual({ uid: 'a-uid', allowed: true });
    }
  });

  it('warns of another schedule for the same namespaces, and not of the schedule itself', () => {
    const others = [named('nights', good), named('weekends', good), named('elsewhere', { ...good, namespaces: ['b'] })];
    const { allowed, warnings } = reviewSchedule(requestOf({ object: schedule(good) }), { ...alone, others });
    expect(allowed).toBe(true);
    expect(warnings).toHaveLength(1);
    expect(warnings?.[0]).toContain('weekends');
    // The name is yet to be made up: the API server sends an empty one.
    const generated = requestOf({ name: '', object: schedule(good, { name: undefined, generateName: 'nights-' }) });
    expect(reviewSchedule(generated, { ...alone, others }).warnings?.[0]).toContain('nights and weekends');
  });

  it('warns of what would never happen: a protected namespace, an exception that is over', () => {
    const unwise = {
      ...good,
      namespaces: ['team-a', 'temporal'],
      exceptions: [{ from: '2025-12-24', state: 'Down' }],
    };
    const { allowed, warnings } = reviewSchedule(requestOf({ object: schedule(unwise) }), alone);
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('temporal'), expect.stringContaining('2025-12-24')]);
  });

  it('keeps a warning on one line and within the 256 characters that the API server passes on', () => {
    const namespaces = Array.from({ length: 30 }, (_, index) => `team-${index}-${'x'.repeat(40)}`);
    const others = [named('x'.repeat(250), { ...good, namespaces })];
    const { warnings = [] } = reviewSchedule(requestOf({ object: schedule({ ...good, namespaces }) }), {
      ...alone,
      others,
    });
    expect(warnings).not.toHaveLength(0);
    for (const warning of warnings) {
      expect(warning.length).toBeLessThanOrEqual(256);
      expect(warning).not.toMatch(/[\r\n]/);
    }
    expect(warnings.some((warning) => warning.endsWith('…'))).toBe(true);
  });
});
