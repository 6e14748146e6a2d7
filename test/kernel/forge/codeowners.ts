/** One line of a CODEOWNERS file. */
export interface OwnerRule {
  readonly pattern: string;
  readonly matches: RegExp;
  /** As they are written: `@login`, `@organisation/team` or an address. None: the files have no owner. */
  readonly owners: readonly string[];
}

/** Where GitHub looks for the file; the first that is there counts. */
export const CODEOWNERS_PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

// GitHub does not load a larger file.
export const CODEOWNERS_LIMIT_BYTES = 3 * 1024 * 1024;

/**
 * Reads a CODEOWNERS file. A line that GitHub does not understand is left out, as GitHub does: a pattern with `!`, with
 * `[ ]` or with an escaped `#`, and an owner that is none.
 */
export function parseCodeowners(text: string): OwnerRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    // A blank of the path is written with a backslash.
    const words = line.trim().match(/(?:\\.|[^\s\\])+/g) ?? [];
    const comment = words.findIndex((word) => word.startsWith('#'));
    const [pattern, ...owners] = comment < 0 ? words : words.slice(0, comment);
    if (pattern === undefined || !isPattern(pattern) || !owners.every(isOwner)) return [];
    return [{ pattern, matches: patternToRegExp(pattern), owners }];
  });
}

/** Who owns a file: the owners of the last line that means it. */
export function ownersOf(rules: readonly OwnerRule[], path: string): readonly string[] {
  return rules.findLast(({ matches }) => matches.test(path))?.owners ?? [];
}

function isPattern(pattern: string): boolean {
  return !/^!|[[\]]|\\#/.test(pattern);
}

function isOwner(word: string): boolean {
  return /^@[\w-]+(\/[\w.-]+)?$/.test(word) || /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(word);
}

/**
 * A pattern as .gitignore has them, with GitHub's one difference: `docs/*` means the files in that folder alone, where
 * .gitignore means everything below it too.
 */
function patternToRegExp(pattern: string): RegExp {
  const segments = pattern.replaceAll('\\ ', ' ').split('/');
  const folder = segments.at(-1) === '';
  if (folder) segments.pop();
  // Only a slash at the beginning or in the middle ties the pattern to the root.
  const anchored = segments.length > 1;
  if (segments[0] === '') segments.shift();
  const last = segments.length - 1;
  const source = segments.map((segment, index) => {
    if (segment === '**') return index === last ? '.*' : '(?:.*/)?';
    return `${globSegment(segment)}${index === last ? '' : '/'}`;
  });
  const final = segments[last] ?? '';
  const end = folder ? '/.*' : final === '*' || final === '**' ? '' : '(?:/.*)?';
  return new RegExp(`^${anchored ? '' : '(?:.*/)?'}${source.join('')}${end}$`);
}

function globSegment(segment: string): string {
  return segment
    .split(/(\*+|\?)/)
    .map((part) => {
      if (part.startsWith('*')) return segment === '*' ? '[^/]+' : '[^/]*';
      return part === '?' ? '[^/]' : part.replace(/[.+^${}()|\\]/g, '\\$&');
    })
    .join('');
}
