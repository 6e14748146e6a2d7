import { ApiError } from '../api-error.ts';

/** The fields of a JSON request body. Each reader throws GitHub's 422 when the field has another type. */
export class Body {
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.fields = fields;
  }

  /** @throws ApiError 400 when it is not JSON, or JSON but no object */
  static parse(text: string): Body {
    if (text.trim() === '') return new Body({});
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new ApiError(400, 'Problems parsing JSON');
    }
    // Labels may be given as a bare array.
    if (Array.isArray(value)) return new Body({ labels: value });
    if (typeof value !== 'object' || value === null) throw new ApiError(400, 'Body should be a JSON object');
    return new Body(value as Record<string, unknown>);
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new ApiError(422, `Invalid request.\n\n"${name}" wasn't supplied.`);
    return value;
  }

  /** Null counts as not given. */
  optionalText(name: string): string | undefined {
    const value = this.fields[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw wrongType(name, value, 'a string');
    return value;
  }

  flag(name: string): boolean | undefined {
    const value = this.fields[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'boolean') throw wrongType(name, value, 'a boolean');
    return value;
  }

  /** A text that must be one of these. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.optionalText(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) {
      throw new ApiError(
        422,
        `Invalid request.\n\n${value} is not a member of [${choices.map((c) => `"${c}"`).join(', ')}].`,
      );
    }
    return found;
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.fields[name];
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) throw wrongType(name, value, 'an array');
    return value;
  }

  texts(name: string): readonly string[] | undefined {
    return this.list(name)?.map((item) => {
      if (typeof item !== 'string') throw wrongType(name, item, 'a string');
      return item;
    });
  }

  object(name: string): Body | undefined {
    const value = this.fields[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(name, value, 'an object');
    return new Body(value as Record<string, unknown>);
  }
}

function wrongType(name: string, value: unknown, wanted: string): ApiError {
  return new ApiError(422, `Invalid request.\n\nFor 'properties/${name}', ${JSON.stringify(value)} is not ${wanted}.`);
}
