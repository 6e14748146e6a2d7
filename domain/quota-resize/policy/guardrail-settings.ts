/** Reads the guardrails of the configuration file: `resize.guardrails`, a list of maps. */
import { z } from 'zod';
import { parseDuration } from '../../kernel/duration.ts';
import { selectorProblems } from '../../kernel/label-selector.ts';
import { labelSelector } from '../../kernel/label-selector-schema.ts';
import { isLessPercent } from '../../kernel/percent.ts';
import { explained } from '../../kernel/settings/forms.ts';
import { parseField } from '../git/yaml/field-path.ts';
import { parsePathTemplate } from '../git/locate/candidate/path-template.ts';
import { isQuotaKey } from '../model/quota-key.ts';
import { BUILT_IN_GUARDRAIL, type Guardrail, isForAll } from './guardrail.ts';
import { readMergeWindows } from './merge-window.ts';
import {
  readApproval,
  readGitRef,
  readGitRepository,
  readGrowth,
  readIncrement,
  readLimit,
  readMaxStep,
  readRejectionCooldown,
  readSpan,
  readThreshold,
  WrongValue,
} from './values.ts';

export const GUARDRAILS_FORM =
  'a list of guardrails, each with a name, and the last one without namespaces, such as - { name: default, max: { cpu: 200 }, growthPerDay: 4 }';

const MAX_GUARDRAILS = 100;
const LONGEST_COOLDOWN_MS = 28 * 86_400_000;

/** A type of a value by the parser of the annotation with the same meaning; YAML may have read it as a number. */
function read<Output>(parse: (text: string) => Output) {
  return z.union([z.string(), z.number()]).transform((written, context): Output => {
    try {
      return parse(String(written).trim());
    } catch (error) {
      const wanted = error instanceof Error ? error.message : String(error);
      const isWrong = error instanceof WrongValue;
      context.addIssue({ code: 'custom', message: isWrong ? `write ${wanted}` : wanted });
      return z.NEVER;
    }
  });
}

const quantities = z.record(z.string(), read(readLimit)).superRefine((limits, context) => {
  for (const key of Object.keys(limits)) {
    if (isQuotaKey(key)) continue;
    const message = 'write a key of a quota such as "requests.cpu", or a family such as "cpu"';
    context.addIssue({ code: 'custom', path: [key], message });
  }
});

const namespaceSelector = z.strictObject({
  names: z
    .array(z.string().regex(/^[a-z0-9*](?:[a-z0-9*-]{0,62})$/, 'write names of namespaces, such as "team-*"'))
    .min(1)
    .optional(),
  labels: labelSelector
    .strict()
    .superRefine((selector, context) => {
      for (const { field, message } of selectorProblems(selector, 'labels')) {
        context.addIssue({ code: 'custom', message: `${field}: ${message}` });
      }
    })
    .optional(),
});

const cooldown = read((text) => {
  const ms = parseDuration(text);
  if (ms > LONGEST_COOLDOWN_MS) throw new RangeError('write a duration of at most four weeks, such as "2h"');
  return ms;
});

const threshold = z
  .strictObject({ least: read(readThreshold).optional(), greatest: read(readThreshold).default('100') })
  .refine(({ least, greatest }) => least === undefined || !isLessPercent(greatest, least), {
    message: 'write a least threshold that is not above the greatest',
  });

const isField = (text: string): string => {
  parseField(text);
  return text;
};

const guardrail = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?$/, 'write letters, digits, spaces, ".", "_" and "-"'),
  namespaces: namespaceSelector.optional(),
  max: quantities.default({}),
  growthPerDay: read(readGrowth).default(BUILT_IN_GUARDRAIL.growthPerDay),
  growthPerWeek: read(readGrowth).default(BUILT_IN_GUARDRAIL.growthPerWeek),
  totals: quantities.default({}),
  leastCooldown: cooldown.optional(),
  leastRejectionCooldown: read(readRejectionCooldown).optional(),
  leastApprovalTimeout: read(readSpan).optional(),
  leastReminder: read(readSpan).optional(),
  leastIncrement: read(readIncrement).optional(),
  leastApproval: read(readApproval).default('none'),
  largestMaxStep: read(readMaxStep).nullable().default(null),
  threshold: threshold.nullable().default(null),
  mergeWindows: read(readMergeWindows).default([]),
  repositories: z.array(read(readGitRepository)).min(1).optional(),
  paths: z
    .array(read((text) => parsePathTemplate(text).text))
    .min(1)
    .optional(),
  fields: z.array(read(isField)).min(1).optional(),
  branches: z.array(read(readGitRef)).min(1).optional(),
  approvalBy: z.enum(['verified', 'any']).default('any'),
});

const guardrails = z
  .array(guardrail)
  .min(1)
  .max(MAX_GUARDRAILS)
  .transform((list) => list.map(asGuardrail))
  .superRefine((list, context) => {
    const names = list.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is the name of an earlier one` });
    }
    const forAll = list.findIndex(isForAll);
    if (forAll < 0) {
      const message = 'the last guardrail has to hold for all namespaces: leave "namespaces" out there';
      context.addIssue({ code: 'custom', path: [list.length - 1, 'namespaces'], message });
    } else if (forAll < list.length - 1) {
      const message = 'it holds for all namespaces, so those after it would never hold: move it to the end';
      context.addIssue({ code: 'custom', path: [forAll], message });
    }
  });

function asGuardrail({ repositories, paths, fields, branches, ...rest }: z.infer<typeof guardrail>): Guardrail {
  return {
    ...rest,
    git: {
      ...(repositories === undefined ? {} : { repositories }),
      ...(paths === undefined ? {} : { paths }),
      ...(fields === undefined ? {} : { fields }),
      ...(branches === undefined ? {} : { branches }),
    },
  };
}

/** The type of the setting: a list in the file, JSON in the environment. */
export const guardrailList: z.ZodType<readonly Guardrail[], string> = explained((written) => {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    throw new RangeError('it is not JSON');
  }
  const result = guardrails.safeParse(value);
  if (result.success) return result.data;
  throw new RangeError(result.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`).join('; '));
});

/** `guardrails[0].max.cpu` */
function placeOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (place, part) => (typeof part === 'number' ? `${place}[${part}]` : `${place}.${String(part)}`),
    'guardrails',
  );
}
