import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { scaledValue } from '../../../domain/kernel/quantity.ts';
import { quantityIn } from '../../../domain/kernel/resource-list.ts';
import {
  CHARGE_GRACE_MS,
  confirmableFrom,
  noCharges,
  noteArrival,
  noteStatus,
  noteVersion,
  type RecentCharges,
  unsettledCharges,
  withoutConfirmed,
  withUnsettledCharges,
} from '../../../domain/quota-usage/recent-charges.ts';

const AT = 1_000_000;
const counted = (pods: string) => ({ used: { pods }, unmeasured: [] });
const note = (
  charges: RecentCharges,
  before: Readonly<Record<string, string>> | null,
  now: Readonly<Record<string, string>>,
  at: number,
  version = '1',
) => noteStatus(charges, before, now, { at, version });
/** An object that is reported after its charge. */
const arrive = (charges: RecentCharges, charge: Readonly<Record<string, string>>) =>
  noteArrival(charges, charge, { at: AT, version: '1', reportedUpTo: '1' });
/** With caches that hold everything that was stored up to a moment. */
const unsettledAt = (charges: RecentCharges, asOf: number) => unsettledCharges(withoutConfirmed(charges, () => asOf));

describe('the charges of a quota', () => {
  it('are what its status has risen by, for as long as their objects may not have been seen', () => {
    const first = note(noCharges, { pods: '1', 'requests.cpu': '1' }, { pods: '2', 'requests.cpu': '1500m' }, AT);
    const both = note(first, { pods: '2', 'requests.cpu': '1500m' }, { pods: '3', 'requests.cpu': '1' }, AT + 500);
    expect(unsettledAt(both, AT + 500)).toEqual({ pods: '2', 'requests.cpu': '500m' });
    expect(unsettledAt(both, AT + CHARGE_GRACE_MS)).toEqual({ pods: '1' });
    expect(unsettledAt(both, AT + 500 + CHARGE_GRACE_MS)).toEqual({});
  });

  it('are unsettled for the whole time, whenever they came', () => {
    for (const at of [AT + 1, AT + 50, AT + 99]) {
      const charges = note(noCharges, {}, { pods: '1' }, at);
      expect(unsettledAt(charges, at + CHARGE_GRACE_MS - 1)).toEqual({ pods: '1' });
      expect(unsettledAt(charges, at + CHARGE_GRACE_MS + 100)).toEqual({});
    }
  });

  it('are settled by the objects that come, the oldest first, and by nothing else', () => {
    const first = note(noCharges, {}, { pods: '2', 'requests.cpu': '1' }, AT);
    const both = note(first, { pods: '2', 'requests.cpu': '1' }, { pods: '3', 'requests.cpu': '1500m' }, AT + 500);
    const afterOne = arrive(both, { pods: '1', 'requests.cpu': '500m', 'limits.cpu': '4' });
    expect(unsettledAt(afterOne, AT + 500)).toEqual({ pods: '2', 'requests.cpu': '1' });
    expect(unsettledAt(afterOne, AT + CHARGE_GRACE_MS)).toEqual({ pods: '1', 'requests.cpu': '500m' });
    const three = arrive(arrive(afterOne, { pods: '1', 'requests.cpu': '500m' }), { pods: '4' });
    expect(unsettledAt(three, AT + 500)).toEqual({ 'requests.cpu': '500m' });
    expect(arrive(noCharges, { pods: '1' })).toEqual(noCharges);
  });

  it('are known of every number but one that cannot be read', () => {
    const odd = { memory: '1e1002', pods: '1' };
    expect(unsettledAt(note(noCharges, { memory: '1Gi', pods: '0' }, odd, AT), AT)).toEqual({ pods: '1' });
    expect(unsettledAt(note(noCharges, odd, { memory: '2Gi', pods: '1' }, AT), AT)).toEqual({ memory: '2Gi' });
    const count = { used: { memory: '1Gi', pods: '0' }, unmeasured: [] };
    expect(withUnsettledCharges(count, odd, { pods: '1' }).used).toEqual({ memory: '1Gi', pods: '1' });
  });

  it('are none of a status that fell or stayed', () => {
    expect(note(noCharges, { pods: '3', services: '1' }, { pods: '2', services: '1' }, AT)).toEqual(noCharges);
  });

  it('are everything that the status says of a quota that was not known, and of a resource that had no number', () => {
    expect(unsettledAt(note(noCharges, null, { pods: '3' }, AT), AT)).toEqual({ pods: '3' });
    expect(unsettledAt(note(noCharges, { pods: '3' }, { pods: '3', services: '2' }, AT), AT)).toEqual({
      services: '2',
    });
  });

  it('are few entries, however many there are, and none once the caches are known to be current', () => {
    let charges = noCharges;
    for (let pods = 0; pods < 2_000; pods += 1) {
      charges = note(charges, { pods: String(pods) }, { pods: String(pods + 1) }, AT + 10 * pods);
    }
    expect(charges.charges.length).toBeLessThanOrEqual(64);
    expect(unsettledAt(charges, AT)).toEqual({ pods: '2k' });
    // Of the last two seconds, and the rest of the span in which they began: about a thirtieth of the time.
    expect(Number(unsettledAt(charges, AT + 20_000)['pods'])).toBeLessThanOrEqual(200 + 70);
    expect(withoutConfirmed(charges, () => AT + 60_000)).toEqual(noCharges);
  });

  it('that were combined because there are many stand for as long as the newest of them', () => {
    let charges = noCharges;
    for (let pods = 0; pods < 65; pods += 1) {
      charges = note(charges, { pods: String(pods) }, { pods: String(pods + 1) }, AT + 1_000 * pods);
    }
    const leftAt = (second: number) => Number(unsettledAt(charges, AT + 1_000 * second + CHARGE_GRACE_MS)['pods']);
    // Any two span the same here; the second and the third are combined.
    expect([leftAt(0), leftAt(1), leftAt(2), leftAt(3)]).toEqual([64, 64, 62, 61]);
  });

  it.each([3_000, 4_500, 10_000, 60_000])(
    'without objects fall while more come all the time, although a list comes only every %i ms',
    (listMs) => {
      let [charges, pods, askedAt, most] = [noCharges, 0, 0, 0];
      for (let at = 0; at < 300_000; at += 100) {
        charges = note(charges, { pods: String(pods) }, { pods: String(pods + 1) }, at);
        pods += 1;
        if (at - askedAt >= listMs) {
          const asOf = askedAt;
          charges = withoutConfirmed(charges, () => asOf);
          pods = Number(scaledValue(quantityIn(unsettledCharges(charges), 'pods'), 0));
          askedAt = at;
        }
        most = Math.max(most, pods);
      }
      const oldestMs = 2 * listMs + CHARGE_GRACE_MS;
      // What was combined may stand for a thirtieth longer.
      expect(most).toBeLessThanOrEqual((oldestMs + oldestMs / 30) / 100 + 1);
      expect(charges.charges.length).toBeLessThanOrEqual(64);
    },
  );

  it('say when the first of them can be confirmed', () => {
    const charges = note(
      note(noCharges, {}, { pods: '1' }, AT),
      { pods: '1' },
      { pods: '1', services: '2' },
      AT + 1_000,
    );
    expect(confirmableFrom(charges, ['pods', 'services'])).toBe(AT + CHARGE_GRACE_MS);
    expect(confirmableFrom(charges, ['services'])).toBe(AT + 1_000 + CHARGE_GRACE_MS);
    expect(confirmableFrom(charges, ['configmaps'])).toBeNull();
  });

  it('stand for as long as what they are counted from is not known to be current, and no longer', () => {
    const charges = note(noCharges, {}, { pods: '1', services: '1' }, AT);
    const left = withoutConfirmed(charges, (resource) => (resource === 'pods' ? AT + CHARGE_GRACE_MS - 1 : Infinity));
    expect(unsettledCharges(left)).toEqual({ pods: '1' });
    expect(withoutConfirmed(left, () => AT + CHARGE_GRACE_MS)).toEqual(noCharges);
    expect(withoutConfirmed(charges, () => Number.NEGATIVE_INFINITY)).toEqual(charges);
  });
});

describe('an object that is reported before its charge', () => {
  const early = (charges: RecentCharges, charge: Readonly<Record<string, string>>, version: string, at = AT) =>
    noteArrival(charges, charge, { at, version, reportedUpTo: '5' });

  it('settles that charge when it is reported, so that what is freed then shows at once', () => {
    const arrived = early(noCharges, { pods: '1', 'requests.cpu': '500m' }, '11');
    const charged = note(arrived, { pods: '1' }, { pods: '2', 'requests.cpu': '500m' }, AT + 20, '10');
    expect(charged).toEqual(noCharges);
  });

  it('settles no charge that was made after it was stored: that is for another object', () => {
    const arrived = early(noCharges, { pods: '1' }, '11');
    const charged = note(arrived, { pods: '1' }, { pods: '2' }, AT + 20, '12');
    expect(unsettledAt(charged, AT + 20)).toEqual({ pods: '1' });
    // Nor one that comes with a version that cannot be compared.
    expect(unsettledAt(note(arrived, {}, { pods: '1' }, AT + 20, 'abc'), AT + 20)).toEqual({ pods: '1' });
  });

  it('settles one charge and not two, and of a larger one its own part', () => {
    const arrived = early(noCharges, { pods: '1' }, '11');
    const first = note(arrived, { pods: '1' }, { pods: '2' }, AT + 20, '9');
    const second = note(first, { pods: '2' }, { pods: '3' }, AT + 20, '10');
    expect(unsettledAt(second, AT + 20)).toEqual({ pods: '1' });
    expect(unsettledAt(note(arrived, { pods: '1' }, { pods: '4' }, AT + 20, '10'), AT + 20)).toEqual({ pods: '2' });
  });

  it('settles what was charged before it first, and only with the rest what comes', () => {
    const charged = note(noCharges, {}, { pods: '1' }, AT, '8');
    const arrived = early(charged, { pods: '1' }, '11');
    expect(arrived).toEqual(noCharges);
  });

  it('is forgotten when the quota has been reported up to it, whoever wrote that, and after a while', () => {
    const arrived = early(noCharges, { pods: '1' }, '11');
    expect(noteVersion(arrived, '10')).toEqual(arrived);
    expect(noteVersion(arrived, '12')).toEqual(noCharges);
    expect(noteArrival(noCharges, { pods: '1' }, { at: AT, version: '11', reportedUpTo: '11' })).toEqual(noCharges);
    const later = early(arrived, { pods: '1' }, '20', AT + CHARGE_GRACE_MS);
    expect(later.early.map(({ version }) => version)).toEqual(['20']);
  });
});

describe('a count', () => {
  it.each([
    ['that lacks what was just charged is no reason to say less', '0', '1', { pods: '1' }, '1'],
    ['frees what was freed besides', '3', '10', { pods: '2' }, '5'],
    ['that is more than the status is said as it is', '5', '4', { pods: '2' }, '5'],
    ['frees at once where nothing was charged lately', '3', '10', {}, '3'],
    ['frees at once what was charged under another name only', '3', '10', { services: '4' }, '3'],
  ])('%s', (_, count, status, unsettled, expected) => {
    expect(withUnsettledCharges(counted(count), { pods: status }, unsettled).used).toEqual({ pods: expected });
  });

  it('of a resource without a number is said as it is, and what could not be counted stays so', () => {
    const unmeasured = [{ keys: ['services'], reason: 'forbidden' }];
    const count = { used: { pods: '2' }, unmeasured };
    expect(withUnsettledCharges(count, {}, { pods: '2' })).toEqual(count);
  });
});

/**
 * An object that admission charges at a moment, which is stored a little later and seen at any time after that, and perhaps
 * deleted and seen to be. The watch of quotas may be late as well, and so report the charge after the object.
 */
interface Life {
  readonly chargedAt: number;
  readonly storedAfter: number;
  /** How late the watch of objects is. */
  readonly seenAfter: number;
  readonly deletedAfter: number | null;
  readonly deletionSeenAfter: number;
}

/** Milliseconds of virtual time; everything happens at multiples of it. */
const STEP_MS = 50;

const lives: fc.Arbitrary<readonly Life[]> = fc.array(
  fc.record({
    chargedAt: fc.nat({ max: 80 }).map((step) => step * STEP_MS),
    storedAfter: fc.nat({ max: CHARGE_GRACE_MS / STEP_MS - 1 }).map((step) => step * STEP_MS),
    seenAfter: fc.nat({ max: 80 }).map((step) => step * STEP_MS),
    deletedAfter: fc.option(fc.nat({ max: 60 }).map((step) => step * STEP_MS)),
    deletionSeenAfter: fc.nat({ max: 60 }).map((step) => step * STEP_MS),
  }),
  { maxLength: 25 },
);

/**
 * Plays charges, objects and counts on a virtual clock; with each count the status that is written, and what is really used.
 * A write that is about an earlier version than the present one is refused, as the API server does.
 *
 * @param quotaSeenAfter how late the watch of quotas is, in milliseconds.
 */
function play(all: readonly Life[], everyMs: number, quotaSeenAfter = 0) {
  /** Every version of the quota, with the moment at which the watch reports it. */
  const versions = [{ status: 0, version: 0, seenAt: 0, isOwn: true }];
  let [recent, seen, version]: [RecentCharges, number, number] = [noCharges, 0, 0];
  /** The version at which each object is stored, once it is. */
  const stored = new Map<Life, number>();
  const writes: { at: number; shown: number; uses: number; isLowered: boolean }[] = [];
  const present = () => versions.at(-1) ?? { status: 0, version: 0, seenAt: 0, isOwn: true };
  const say = (status: number, now: number, isOwn: boolean): void => {
    version += 1;
    versions.push({ status, version, seenAt: now + quotaSeenAfter, isOwn });
  };
  const report = (now: number): void => {
    for (let next = versions[seen + 1]; next !== undefined && next.seenAt <= now; next = versions[seen + 1]) {
      const before = versions[seen]?.status ?? 0;
      seen += 1;
      recent = next.isOwn
        ? noteVersion(recent, String(next.version))
        : note(recent, { pods: String(before) }, { pods: String(next.status) }, now, String(next.version));
    }
  };
  const storedAt = ({ chargedAt, storedAfter }: Life) => chargedAt + storedAfter;
  const seenAt = (life: Life) => storedAt(life) + life.seenAfter;
  const ends = (life: Life) =>
    life.deletedAfter === null ? Number.POSITIVE_INFINITY : storedAt(life) + life.deletedAfter;
  for (let now = 0; now <= 16_000; now += STEP_MS) {
    for (const { length: charged } of [all.filter(({ chargedAt }) => chargedAt === now)]) {
      for (let index = 0; index < charged; index += 1) say(present().status + 1, now, false);
    }
    for (const life of all.filter((each) => storedAt(each) === now)) {
      version += 1;
      stored.set(life, version);
    }
    const arriveNow = (): void => {
      for (const life of all.filter((each) => seenAt(each) === now)) {
        const arrival = { at: now, version: String(stored.get(life)), reportedUpTo: String(versions[seen]?.version) };
        recent = noteArrival(recent, { pods: '1' }, arrival);
      }
    };
    // Either watch may be the first.
    if (now % (2 * STEP_MS) === 0) arriveNow();
    report(now);
    if (now % (2 * STEP_MS) !== 0) arriveNow();
    if (now % everyMs !== 0) continue;
    const uses = all.filter((charge) => charge.chargedAt <= now && now < ends(charge)).length;
    const counts = all.filter(
      (charge) => seenAt(charge) <= now && now < Math.max(ends(charge), seenAt(charge)) + charge.deletionSeenAfter,
    ).length;
    const cached = versions[seen] ?? present();
    // What a list finds out: up to when everything that was stored has been seen.
    const unseen = all.filter((life) => storedAt(life) <= now && seenAt(life) > now).map(storedAt);
    recent = withoutConfirmed(recent, () => Math.min(now, ...unseen));
    const amounts = unsettledCharges(recent);
    const status = { pods: String(cached.status) };
    const wanted = Number(withUnsettledCharges(counted(String(counts)), status, amounts).used['pods']);
    const before = present();
    if (wanted !== cached.status && cached.version === before.version) say(wanted, now, true);
    writes.push({ at: now, shown: present().status, uses, isLowered: present().status < before.status });
  }
  return writes;
}

/** How late the watch of quotas is. */
const quotaWatchIsLate = fc.nat({ max: 8 }).map((steps) => steps * STEP_MS);

describe('a status that is counted all the time while objects come late and go', () => {
  it('never says less than what is used', () => {
    fc.assert(
      fc.property(
        lives,
        fc.constantFrom(STEP_MS, 4 * STEP_MS, 20 * STEP_MS),
        quotaWatchIsLate,
        (all, everyMs, late) => {
          expect(play(all, everyMs, late).filter(({ shown, uses }) => shown < uses)).toEqual([]);
        },
      ),
    );
  });

  it('says what is used when nothing has come or gone for a while', () => {
    fc.assert(
      fc.property(lives, quotaWatchIsLate, (all, late) => {
        expect(play(all, STEP_MS, late).at(-1)).toMatchObject({
          shown: all.filter(({ deletedAfter }) => deletedAfter === null).length,
        });
      }),
    );
  });

  it('falls at once although another object was reported before its charge', () => {
    const leaves = { chargedAt: 0, storedAfter: 0, seenAfter: STEP_MS, deletedAfter: 3_000, deletionSeenAfter: 0 };
    const comes = { chargedAt: 2_900, storedAfter: 0, seenAfter: STEP_MS, deletedAfter: null, deletionSeenAfter: 0 };
    const shownAt = (moment: number) => play([leaves, comes], STEP_MS, 200).find(({ at }) => at === moment)?.shown;
    expect([shownAt(2_950), shownAt(3_150)]).toEqual([2, 1]);
  });

  it('falls while admission charges it without a pause', () => {
    const steady = Array.from({ length: 200 }, (_, index) => ({
      chargedAt: index * STEP_MS,
      storedAfter: 0,
      seenAfter: STEP_MS,
      deletedAfter: index < 100 ? 5_000 : null,
      deletionSeenAfter: 0,
    }));
    const during = play(steady, STEP_MS).filter(({ at }) => at >= 5_000 + CHARGE_GRACE_MS && at < 10_000);
    // No later than what is under way, however much is charged in two seconds.
    expect(Math.max(...during.map(({ shown, uses }) => shown - uses))).toBeLessThanOrEqual(2);
  });
});
