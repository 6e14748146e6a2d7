/**
 * The Events that the resizer writes on a quota, with their types. A blocked decision is reported too, as a Warning
 * with the reason of the block.
 */
export const eventTypes = {
  QuotaResizeRecommended: 'Warning',
  QuotaResizeMerged: 'Normal',
  QuotaResizeApprovalNeeded: 'Normal',
  QuotaResizeApprovalOverdue: 'Warning',
  QuotaResizeApproved: 'Normal',
  QuotaResizeHeld: 'Normal',
  AtMaximum: 'Warning',
  UsageContradicted: 'Warning',
  UsageNotCounted: 'Warning',
  DenialDoubted: 'Warning',
  QuotaResizeRejected: 'Normal',
  PolicyInvalid: 'Warning',
  SyncOverdue: 'Warning',
} as const satisfies Record<string, 'Normal' | 'Warning'>;

export type EventReason = keyof typeof eventTypes;
