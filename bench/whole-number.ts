/** @throws Error that names the flag, for anything but a whole number of at least `least`. */
export function wholeNumber(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new Error(`--${flag} ${text}: expected a whole number of at least ${least}`);
  }
  return value;
}
