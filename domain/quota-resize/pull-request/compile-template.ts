/**
 * Handlebars templates with which operators customize the texts in a repository. A template sees only its context: an
 * unknown name is an error and not an empty text, prototypes are not accessible, and the helpers only format.
 */
import Handlebars from 'handlebars';
import { code, ForeignText } from './markdown.ts';

/** An invalid template; the message says what is wrong and what would be valid. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

export type TextTemplate<Context extends object> = (context: Context) => string;

const environment = Handlebars.create();
/** `{{code quota}}`: a name or a quantity as code. */
environment.registerHelper('code', (value: unknown) =>
  value instanceof ForeignText ? value.code() : code(String(value)),
);

const FUNCTIONS = ['code', 'if', 'unless', 'each', 'with'];

/** Contexts with which templates are tested, so that an invalid one is found at start. */
export interface Samples<Context extends object> {
  readonly contexts: readonly Context[];
  /** Throws TemplateError for an invalid result. */
  readonly check?: (render: TextTemplate<Context>) => void;
}

/**
 * Compiles a template and renders it with every sample.
 *
 * @throws {TemplateError} for bad syntax, an unknown name or function, or a text that `check` rejects.
 */
export function compileTemplate<Context extends object>(
  source: string,
  { contexts, check }: Samples<Context>,
): TextTemplate<Context> {
  const render = compiled<Context>(source);
  try {
    for (const context of contexts) render(context);
  } catch (error) {
    throw new TemplateError(withNames(messageOf(error), contexts[0]));
  }
  check?.(render);
  return render;
}

function compiled<Context extends object>(source: string): TextTemplate<Context> {
  const template = environment.compile<Context>(source, {
    strict: true,
    noEscape: true,
    knownHelpersOnly: true,
    knownHelpers: Object.fromEntries([
      ...Object.keys(environment.helpers).map((name) => [name, false]),
      ...FUNCTIONS.map((name) => [name, true]),
    ]),
    explicitPartialContext: true,
  });
  return (context) => template(context, { allowProtoMethodsByDefault: false, allowProtoPropertiesByDefault: false });
}

function withNames(message: string, sample: object | undefined): string {
  const names = Object.keys(sample ?? {});
  return names.length === 0 ? message : `${message}; the names are ${names.join(', ')}`;
}

function messageOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.replace(/\s*\n\s*/g, ' ').trim();
}
