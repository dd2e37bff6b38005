/** Column values of a request without a scheduled merge. */
export const noScheduledMerge = {
  merge_when_pipeline_succeeds: 0,
  merge_user_id: null,
  merge_params: '{}',
  should_remove_source_branch: null,
} as const;
