/** A workflow that does nothing: what a start, one workflow task and the answer take. */
export async function bare(): Promise<void> {
  await Promise.resolve();
}
