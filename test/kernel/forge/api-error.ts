/** One entry of `errors` in GitHub's "Validation Failed". */
export interface FieldError {
  readonly resource: string;
  readonly code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'unprocessable' | 'custom';
  readonly field?: string;
  readonly message?: string;
}

/** An answer of GitHub's that is no success: thrown where it is found, written by the server. */
export class ApiError extends Error {
  readonly status: number;
  readonly errors: readonly (FieldError | string)[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { errors, headers = {} }: { errors?: readonly (FieldError | string)[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

export const notFound = (): ApiError => new ApiError(404, 'Not Found');

/** GitHub's 422 with a list of what is wrong. */
export function validationFailed(...errors: FieldError[]): ApiError {
  return new ApiError(422, 'Validation Failed', { errors });
}
