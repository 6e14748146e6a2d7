/**
 * Where a chart's templates use a value besides the limits of its ResourceQuotas: raising such a value would change
 * more than a limit.
 */
import type { Pointer } from '../../yaml/field-path.ts';
import { isManifestFile } from '../tree/paths.ts';
import { templateOf } from './chart.ts';
import { type Reference, referenceOf, splitPipeline, type TemplateScope, topScope, wordsIn } from './expression.ts';
import { quotasOfTemplate } from './template.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** A use in a template of the value at the pointer, or of the mapping there as a whole. */
interface Use {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  readonly pointer: Pointer;
  /** Only whether and which keys are there matters to it: `hasKey .Values.quota "pods"`. */
  readonly isShape: boolean;
  /** The mapping is what a `range`, a `with` or a variable stands for. */
  readonly isRelative: boolean;
}

/** Where a value is used besides the limits of quotas. */
interface OtherUse {
  readonly path: string;
  readonly line: number;
  /** False where a mapping that has the value is handed on, and what becomes of it is not followed. */
  readonly isCertain: boolean;
}

const usesByTexts = new WeakMap<TreeReader['tree']['texts'], Map<string, readonly Use[]>>();

/** The place of another use of the value; undefined when only limits of quotas use it. */
export function otherUseOf(reader: TreeReader, chart: string, pointer: Pointer): OtherUse | undefined {
  const uses = usesIn(reader, chart)
    .filter((use) => isPrefix(pointer, use.pointer) || (isPrefix(use.pointer, pointer) && !use.isShape))
    .map((use) => ({ ...use, isCertain: !use.isRelative || isPrefix(pointer, use.pointer) }));
  return uses.find(({ isCertain }) => isCertain) ?? uses[0];
}

/** A step of a pointer that may be any key: that of a `range`, or one that is not known. */
const ANY = '*';

function isPrefix(prefix: Pointer, pointer: Pointer): boolean {
  return (
    prefix.length <= pointer.length &&
    prefix.every((step, index) => {
      const [one, other] = [String(step), String(pointer[index])];
      return one === other || one === ANY || other === ANY;
    })
  );
}

function usesIn(reader: TreeReader, chart: string): readonly Use[] {
  const { texts } = reader.tree;
  const cache = usesByTexts.get(texts) ?? new Map<string, readonly Use[]>();
  usesByTexts.set(texts, cache);
  const key = `${texts.size} ${chart}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const folder = chart === '' ? 'templates/' : `${chart}/templates/`;
  const uses = reader.index
    .below(chart)
    .filter((path) => {
      if (path.startsWith(folder)) return templateOf(reader, path) === chart && !path.endsWith('/NOTES.txt');
      // The function `tpl` makes a template of a text in the values.
      return isManifestFile(path) && (texts.get(path)?.includes('{{') ?? false);
    })
    .flatMap((path) => usesOf(path, texts.get(path) ?? ''));
  cache.set(key, uses);
  return uses;
}

/** A condition whose result depends on more than whether there is a value. */
const COMPARES = /\b(?:eq|ne|lt|le|gt|ge|has|contains|semverCompare|regexMatch)\b/;
/** Functions of a mapping that do not depend on the values in it. */
const ASKS = new Set(['hasKey', 'keys', 'len', 'empty', 'kindIs', 'kindOf', 'typeIs', 'typeOf']);
const HEAD = /^(?:(else)(?: |$))?(?:(if|with|range|define|block|end)(?: |$))?(.*)$/;
const ASSIGNMENT = /^(?:(\$\w*) ?, ?)?(\$\w+) ?(:?=) ?(.*)$/;
const VALUES = /\.Values((?:\.[A-Za-z_][\w-]*)*)/g;

/** Longer or deeper expressions, which no chart has, are not followed: each level is read once for every one around it. */
const MAX_LENGTH = 2000;
const MAX_DEPTH = 8;

/** Something whose keys and values are not those of `.Values`. */
const NOTHING: Reference = { kind: 'text', text: ANY };

/** The uses of values in the text of a template, without those that are limits of quotas. */
function usesOf(path: string, text: string): readonly Use[] {
  if (!text.includes('.Values')) return [];
  const limitLines = new Set(
    quotasOfTemplate(text).flatMap(({ limits, map }) => [
      ...limits.map(({ line }) => line),
      ...(map === undefined ? [] : [map.line]),
    ]),
  );
  const uses = new Map<string, Use>();
  // The scopes of the open blocks, and those in which limits of quotas are read: without variables of assignments.
  const scopes: TemplateScope[] = [topScope];
  const ofBlocks: TemplateScope[] = [topScope];
  for (const action of actionsOf(text)) {
    const [, isElse, word, rest = ''] = HEAD.exec(action.text) ?? [];
    if (isElse !== undefined || word === 'end') {
      // A value file may have the end of a block alone.
      if (scopes.length > 1) {
        scopes.pop();
        ofBlocks.pop();
      }
      if (word === 'end') continue;
    }
    const scope = scopes.at(-1) ?? topScope;
    const ofBlock = ofBlocks.at(-1) ?? topScope;
    const isLimit = limitLines.has(action.line) && word === undefined && referenceOf(rest, ofBlock) !== undefined;
    const { used, inside } = isLimit ? { used: [], inside: scope } : followed(word ?? isElse, rest, scope);
    for (const use of used) {
      const key = JSON.stringify([use.pointer, use.isShape, use.isRelative]);
      if (!uses.has(key)) uses.set(key, { ...use, path, line: action.line });
    }
    if (word === undefined && isElse === undefined) {
      scopes[scopes.length - 1] = inside;
    } else {
      scopes.push(inside);
      ofBlocks.push(word === 'range' || word === 'with' ? followed(word, rest, ofBlock).inside : ofBlock);
    }
  }
  return [...uses.values()];
}

type UsedPointer = Pick<Use, 'pointer' | 'isShape' | 'isRelative'>;

/** What an action uses, and the scope after it: inside of the block that it opens, or with the variable that it sets. */
function followed(
  word: string | undefined,
  text: string,
  scope: TemplateScope,
): { readonly used: readonly UsedPointer[]; readonly inside: TemplateScope } {
  if (word === 'else') return { used: [], inside: scope };
  if (isCostly(text)) return { used: namedIn(text), inside: { ...scope, dot: NOTHING } };
  if (word === 'define' || word === 'block') return { used: usedIn(text, scope), inside: topScope };
  const [, key, variable, sign, assigned] = ASSIGNMENT.exec(text) ?? [];
  const about = assigned ?? text;
  // A raise leaves a value that is there as it is: there.
  if (word === 'if' && variable === undefined) {
    return { used: COMPARES.test(about) ? usedIn(about, scope) : [], inside: scope };
  }
  if (word === undefined && (variable === undefined || sign === '=')) {
    return { used: usedIn(about, scope), inside: scope };
  }
  const reference = resolve(about, scope);
  const isFollowed = reference !== undefined;
  const value: Reference =
    word === 'range' && reference?.kind === 'value'
      ? { kind: 'value', pointer: [...reference.pointer, ANY] }
      : (reference ?? NOTHING);
  const variables = new Map(scope.variables);
  if (key !== undefined) variables.set(key, NOTHING);
  if (variable !== undefined) variables.set(variable, value);
  return {
    used: isFollowed ? [] : usedIn(about, scope),
    inside: { dot: word === 'range' || word === 'with' ? value : scope.dot, variables },
  };
}

function isCostly(expression: string): boolean {
  if (expression.length > MAX_LENGTH) return true;
  let depth = 0;
  let deepest = 0;
  for (const character of expression) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    deepest = Math.max(deepest, depth);
  }
  return deepest > MAX_DEPTH;
}

/** What an expression refers to, with any key for one that is computed; undefined when it computes more than a key. */
function resolve(expression: string, scope: TemplateScope): Reference | undefined {
  const exact = referenceOf(expression, scope);
  if (exact !== undefined) return exact;
  const [, inner, suffix = ''] = /^\((.*)\)((?:\.[\w-]+)*)$/.exec(expression) ?? [];
  if (inner !== undefined && wordsIn(expression).length === 1) return below(resolve(inner, scope), keysOf(suffix));
  const [step = '', second] = splitPipeline(expression);
  const [head, base, ...keys] = wordsIn(step);
  if (second !== undefined || base === undefined || (head !== 'index' && head !== 'get')) return undefined;
  const steps = keys.map((key) => {
    const reference = referenceOf(key, scope);
    return reference?.kind === 'text' ? reference.text : ANY;
  });
  return below(resolve(base, scope), steps);
}

function below(reference: Reference | undefined, keys: readonly string[]): Reference | undefined {
  return reference?.kind === 'value' ? { kind: 'value', pointer: [...reference.pointer, ...keys] } : undefined;
}

/** All values and mappings that an expression has. */
function usedIn(expression: string, scope: TemplateScope): readonly UsedPointer[] {
  return splitPipeline(expression).flatMap((step) => {
    const reference = resolve(step, scope);
    const isRelative = !step.includes('.Values');
    if (reference?.kind === 'value') return [{ pointer: reference.pointer, isShape: false, isRelative }];
    const words = wordsIn(step);
    const isShape = ASKS.has(words[0] ?? '');
    // A group alone that cannot be resolved: what is in it, whatever is taken from the result.
    const used = words.flatMap((word) => {
      if (word.startsWith('(')) return usedIn(word.slice(1, word.lastIndexOf(')')), scope);
      return words.length > 1 ? usedIn(word, scope) : /^["`]/.test(word) && !word.includes('{{') ? [] : namedIn(word);
    });
    return used.map((use) => ({ ...use, isShape: use.isShape || isShape }));
  });
}

/** Values by their path in a text that is not followed: `.context.Values.quota`, or a template in quotes. */
function namedIn(text: string): readonly UsedPointer[] {
  return [...text.matchAll(VALUES)].map(([, keys = '']) => ({
    pointer: keysOf(keys),
    isShape: false,
    isRelative: false,
  }));
}

/** What stands between double braces, with every run of spaces as one; comments are left out. */
function actionsOf(text: string): readonly { readonly text: string; readonly line: number }[] {
  const actions: { readonly text: string; readonly line: number }[] = [];
  let line = 1;
  let counted = 0;
  for (let start = text.indexOf('{{'); start >= 0; ) {
    const end = text.indexOf('}}', start);
    if (end < 0) break;
    for (; counted < start; counted += 1) if (text[counted] === '\n') line += 1;
    const words = text
      .slice(start + 2, end)
      .split(/\s/)
      .filter((word) => word !== '');
    const action = words.join(' ').replace(/^- ?/, '').replace(/ ?-$/, '');
    if (!action.startsWith('/*')) actions.push({ text: action, line });
    start = text.indexOf('{{', end);
  }
  return actions;
}

function keysOf(dotted: string): readonly string[] {
  return dotted.split('.').filter((key) => key !== '');
}
