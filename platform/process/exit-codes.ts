/** With what a process of Headroom ends, so that whoever started it can tell why. */
export const exitCodes = {
  /** Asked to stop, and everything came to an end in time. */
  stopped: 0,
  /** An error that nothing could handle; it was logged. */
  failed: 1,
  /** The configuration is not usable, or names what does not exist; starting it again does not help. */
  configuration: 2,
  /** Asked to stop, and something did not end within the grace. */
  graceExceeded: 3,
} as const;
