/** Why jobs fail, in the words that runners may use: what another one says is unknown. */
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

const known: ReadonlySet<string> = new Set(failureReasons);

export const knownReason = (reason: string | undefined): string =>
  reason !== undefined && known.has(reason) ? reason : 'unknown_failure';
