/** Failure reasons that the contract names. Any other reason of a runner becomes `unknown_failure`. */
export const failureReasons = [
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'missing_dependency_failure',
  'runner_unsupported',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
  'secrets_provider_not_found',
] as const;

const contractReasons: ReadonlySet<string> = new Set(failureReasons);

export const toFailureReason = (reason: string | undefined): string =>
  reason !== undefined && contractReasons.has(reason) ? reason : 'unknown_failure';
