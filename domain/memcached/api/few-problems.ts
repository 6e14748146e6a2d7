const MOST = 20;

/** The first of them, and how many there are besides: a tenant can make any number, and they go into a status, a history and a log. */
export function fewProblems(problems: readonly string[]): readonly string[] {
  return problems.length <= MOST ? problems : [...problems.slice(0, MOST), `and ${problems.length - MOST} more`];
}
