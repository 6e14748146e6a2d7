/**
 * Flags of kube-controller-manager: its autoscaler reconciles every second in place of 15, and goes by what a pod uses from its first second on,
 * not after minutes.
 */
export const quickAutoscaler: readonly string[] = [
  '--horizontal-pod-autoscaler-sync-period=1s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
  '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
];
