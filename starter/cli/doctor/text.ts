import type { Finding, FindingStatus } from './finding.ts';

const MARKS: Readonly<Record<FindingStatus, string>> = {
  ok: 'ok     ',
  warning: 'warning',
  wrong: 'WRONG  ',
  unknown: 'unknown',
};

/** The findings under each other, each with how to mend it, and how many of them there are. */
export function doctorText(findings: readonly Finding[]): string {
  const lines = [...Map.groupBy(findings, ({ check }) => check)].flatMap(([check, its]) => [
    check,
    ...its.flatMap(({ status, what, mend }) => [
      `  ${MARKS[status]}  ${what}`,
      ...(mend === undefined ? [] : [`           ${mend}`]),
    ]),
  ]);
  const count = (status: FindingStatus): number => findings.filter((finding) => finding.status === status).length;
  const [wrong, warnings, unknown] = [count('wrong'), count('warning'), count('unknown')];
  const end =
    wrong + warnings + unknown === 0 ? 'All is well.' : `${wrong} wrong, ${warnings} to look at, ${unknown} not known.`;
  return `${lines.join('\n')}\n\n${end}\n`;
}
