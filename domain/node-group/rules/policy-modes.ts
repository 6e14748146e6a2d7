/** How eagerly the VPSie autoscaler takes nodes away: presets of the thresholds that a NodeGroup names itself. */
import { MINUTE_MS } from '../../kernel/time.ts';

export type PolicyMode = 'aggressive' | 'balanced' | 'conservative' | 'disabled';

interface Thresholds {
  /** Percent. */
  readonly cpu: number;
  readonly memory: number;
  /** For how long a node must have been below them, in milliseconds. */
  readonly windowMs: number;
}

const DAY_MINUTES = 24 * 60;

export const POLICY_MODES: Readonly<Record<PolicyMode, Thresholds>> = {
  aggressive: { cpu: 60, memory: 60, windowMs: 5 * MINUTE_MS },
  balanced: { cpu: 50, memory: 50, windowMs: 10 * MINUTE_MS },
  conservative: { cpu: 40, memory: 40, windowMs: 20 * MINUTE_MS },
  disabled: { cpu: 100, memory: 100, windowMs: DAY_MINUTES * MINUTE_MS },
};
