/**
 * Parsers for the values of the policy's settings. Each takes the trimmed text of an annotation (or of the process's
 * setting of the same meaning) and throws `WrongValue` for an invalid one.
 */
import { parseDuration } from '../../kernel/duration.ts';
import { type Percent, parsePercent, percentRatio } from '../../kernel/percent.ts';
import { formatQuantity, isQuantity, parseQuantity } from '../../kernel/quantity.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import { FieldPathError, parseField } from '../git/yaml/field-path.ts';
import { GitPathError, parsePathTemplate } from '../git/locate/candidate/path-template.ts';
import { MAX_STEP_FACTOR, parseMaxStep } from './max-step.ts';
import type { Approval } from './merge-rules.ts';
import type { Burst, ResizeMode } from './policy.ts';
import { isQuotaKey } from '../model/quota-key.ts';

/** An invalid value of a setting; the message says what would be valid, to follow "write". */
export class WrongValue extends Error {
  override readonly name = 'WrongValue';
  /** The exact problem, if a value can be wrong in several ways. */
  readonly reason: string | undefined;

  constructor(wanted: string, reason?: string) {
    // The reason may quote the value, and an annotation may hold 256 KiB.
    const brief = reason === undefined || reason.length <= 300 ? reason : `${reason.slice(0, 300)}…`;
    super(brief === undefined ? wanted : `${wanted} (${brief})`);
    this.reason = brief;
  }
}

/** Four weeks: a longer cooldown has no use, and timers stay far below their limits. */
const MAX_COOLDOWN_MINUTES = 40_320;
const MAX_INCREMENT = 1000;

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** Longer than any quarter; for a longer time `never` is the right setting. */
const MAX_SPAN_MS = 92 * DAY_MS;
const SPAN_FORM = 'such as "90m", "24h" or "7d", from 1s to 92d';

export const BURST_FORM = '"settle" or "fill"';
export const APPROVAL_FORM = '"none", "before-pull-request" or "before-merge"';
export const SPAN_OR_NEVER_FORM = `a duration ${SPAN_FORM}, or "never"`;
export const STEPS_FORM =
  '"none", or quantities above 0 by family or quota key, parted by commas, such as "cpu=1,memory=4Gi"';
export const FREEZE_FORM =
  'a date or a moment such as "2026-12-27" (the begin of that day in UTC) or "2026-12-27T18:00:00+01:00"';

export function readBoolean(text: string): boolean {
  return oneOf(['true', 'false'], text, '"true" or "false"') === 'true';
}

export function readMode(text: string): ResizeMode {
  return oneOf(['observe', 'propose'], text, '"observe" or "propose"');
}

export function readBurst(text: string): Burst {
  return oneOf(['settle', 'fill'], text, BURST_FORM);
}

export function readApproval(text: string): Approval {
  return oneOf(['none', 'before-pull-request', 'before-merge'], text, APPROVAL_FORM);
}

function oneOf<const Word extends string>(words: readonly Word[], text: string, wanted: string): Word {
  const word = words.find((existing) => existing === text.toLowerCase());
  if (word === undefined) throw new WrongValue(wanted);
  return word;
}

export function readThreshold(text: string): Percent {
  return readPercent(text, 100, 'a percentage above 0 and up to 100, such as "90" or "90%"');
}

export function readIncrement(text: string): Percent {
  return readPercent(text, MAX_INCREMENT, `a percentage above 0 and up to ${MAX_INCREMENT}, such as "10" or "10%"`);
}

function readPercent(text: string, max: number, wanted: string): Percent {
  let percent: Percent;
  try {
    percent = parsePercent(text);
  } catch {
    throw new WrongValue(wanted);
  }
  const { numerator, denominator } = percentRatio(percent);
  if (numerator <= 0n || numerator * 100n > BigInt(max) * denominator) {
    throw new WrongValue(wanted);
  }
  return percent;
}

/** Milliseconds, from a number of minutes. */
export function readMinutes(text: string): number {
  const minutes = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(minutes <= MAX_COOLDOWN_MINUTES)) {
    throw new WrongValue(`a whole number of minutes from 0 to ${MAX_COOLDOWN_MINUTES} (four weeks), such as "60"`);
  }
  return minutes * MINUTE_MS;
}

/** Milliseconds. */
export function readSpan(text: string): number {
  return spanOf(text, SECOND_MS, `a duration ${SPAN_FORM}`);
}

/** Milliseconds; null for `never`. */
export function readSpanOrNever(text: string): number | null {
  if (text.toLowerCase() === 'never') return null;
  return spanOf(text, SECOND_MS, SPAN_OR_NEVER_FORM);
}

/** Milliseconds; `0` disables the cooldown. */
export function readRejectionCooldown(text: string): number {
  return spanOf(text, 0, 'a duration such as "90m", "24h" or "7d", up to 92d, or "0"');
}

function spanOf(text: string, least: number, wanted: string): number {
  let span: number;
  try {
    span = parseDuration(text);
  } catch {
    throw new WrongValue(wanted);
  }
  if (span < least || span > MAX_SPAN_MS) throw new WrongValue(wanted);
  return span;
}

export function readMaxStep(text: string): string {
  try {
    return parseMaxStep(text);
  } catch {
    throw new WrongValue(`a factor from 1 to ${MAX_STEP_FACTOR}, such as "2", "1.5" or "2x"`);
  }
}

/** A factor; null for `unlimited`. */
export function readGrowth(text: string): string | null {
  if (text.toLowerCase() === 'unlimited') return null;
  try {
    return parseMaxStep(text);
  } catch {
    throw new WrongValue(`a factor from 1 to ${MAX_STEP_FACTOR}, such as "4", or "unlimited"`);
  }
}

/** A canonical quantity above 0. */
export function readLimit(text: string): string {
  return positiveQuantity(text, 'a quantity above 0, such as "4", "500m" or "16Gi"');
}

/** Steps by family or quota key; an empty list for `none`. */
export function readSteps(text: string): ResourceList {
  if (text.toLowerCase() === 'none') return {};
  const steps = new Map<string, string>();
  for (const part of text.split(',')) {
    const [resource = '', quantity = '', ...rest] = part.split('=').map((word) => word.trim());
    if (rest.length > 0 || !isQuotaKey(resource) || steps.has(resource)) throw new WrongValue(STEPS_FORM);
    steps.set(resource, positiveQuantity(quantity, STEPS_FORM));
  }
  return Object.fromEntries(steps);
}

function positiveQuantity(text: string, wanted: string): string {
  if (!isQuantity(text)) throw new WrongValue(wanted);
  const quantity = parseQuantity(text);
  if (quantity.nano <= 0n) throw new WrongValue(wanted);
  return formatQuantity(quantity);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
// RFC 3339, which allows a lower-case t and z; without an offset the moment would depend on the local time zone.
const MOMENT = /^(\d{4}-\d{2}-\d{2})t(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(z|[+-]\d{2}:\d{2})$/i;

/** The end of a freeze; a date means its first moment in UTC. */
export function readFreezeUntil(text: string): EpochMs {
  const [, date = text, time = '00:00:00', offset = 'Z'] = MOMENT.exec(text) ?? [];
  const day = DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // Date would read a day that does not exist as a day of the next month.
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) throw new WrongValue(FREEZE_FORM);
  const moment = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  if (Number.isNaN(moment)) throw new WrongValue(FREEZE_FORM);
  return moment;
}

// A user, or a team as `organisation/team`. GitHub names have letters, digits and hyphens; managed users also have an
// underscore, and a team's slug may have dots.
const REVIEWER = /^@?([A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\/[A-Za-z0-9_][A-Za-z0-9._-]{0,99})?)$/;

/** Where the forge refuses one of them, each is asked with a request of its own. */
const MOST_REVIEWERS = 15;

/** Users and teams without their `@`; empty for `none`. */
export function readReviewers(text: string): readonly string[] {
  if (text.toLowerCase() === 'none') return [];
  const names = text.split(',').map((part) => REVIEWER.exec(part.trim())?.[1]);
  const different = [...new Set(names.filter((name) => name !== undefined))];
  if (names.includes(undefined) || different.length > MOST_REVIEWERS) {
    throw new WrongValue(
      `"none", or up to ${MOST_REVIEWERS} users and teams parted by commas, such as "alice, platform/quota-owners"`,
    );
  }
  return different;
}

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

export function readGitRepository(text: string): string {
  if (!REPOSITORY.test(text) || text.endsWith('.git')) {
    throw new WrongValue('a repository as owner/name, without a host and without ".git", such as "acme/gitops"');
  }
  return text;
}

const GIT_PATH_FORM = 'a folder or a file from the repository\'s root, such as "clusters/prod/{{ .Namespace }}"';

export function readGitPath(text: string): string {
  // A URL may contain a password, which would be stored in workflow histories with the path.
  if (text.includes('://')) throw new WrongValue(GIT_PATH_FORM, 'this is an address');
  try {
    return parsePathTemplate(text).text;
  } catch (error) {
    if (!(error instanceof GitPathError)) {
      throw error;
    }
    throw new WrongValue(GIT_PATH_FORM, error.message);
  }
}

// The rules of git-check-ref-format that matter for typos in a branch name.
const BRANCH = /^(?![-/.])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\s~^:?*[\\]{1,255}(?<![/.])$/;

export function readGitRef(text: string): string {
  if (!BRANCH.test(text) || text.endsWith('.lock')) throw new WrongValue('the name of a branch, such as "main"');
  return text;
}

export function readGitField(text: string): string {
  try {
    parseField(text);
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    const wanted = 'the place of the value in its file, such as namespaceQuotas["requests.cpu"] or quotas[0].cpu';
    throw new WrongValue(wanted, error.message);
  }
  return text;
}
