/**
 * Checks that carried state has the version that this release reads.
 *
 * @param what whose state it is, for the message: `the carried memory`.
 * @throws Error for another version. The workflow task fails and is tried again, until a worker that knows it takes over.
 */
export function requireVersion(what: string, { version }: { readonly version: unknown }, known: number): void {
  if (version === known) return;
  const advice =
    typeof version === 'number' && version > known
      ? 'run a worker of the newer release'
      : 'it is older than the first release; terminate the workflow, and its next run begins anew';
  throw new Error(`${what} has version ${String(version)}: ${advice}`);
}
