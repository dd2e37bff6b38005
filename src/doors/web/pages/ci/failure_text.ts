import type { JobRow } from '../../../../ci/jobs/rows.ts';

/** Formats why a job failed: `script failure, exit code 1`. */
export const failureText = ({
  failure_reason,
  exit_code,
}: Pick<JobRow, 'failure_reason' | 'exit_code'>): string =>
  [
    ...(failure_reason === null ? [] : [failure_reason.replaceAll('_', ' ')]),
    ...(exit_code === null ? [] : [`exit code ${exit_code}`]),
  ].join(', ');
