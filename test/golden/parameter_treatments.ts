/**
 * Parameters that clients send and that no endpoint declares, each with the reason why it has no effect. What is
 * declared needs no line here: it acts, or is refused (`unsupportedFilter`). Filters never belong here.
 */
export type Treatment = {
  reason: string;
  names: string;
  /** Requests it is about, as `GET /projects/:id`; default: every write. */
  routes?: RegExp;
};

const read = /^GET /;
const anyProject = /^(?:POST|PUT) \/projects(?:\/:id|\/user\/:user_id)?$/;
const anyGroup = /^(?:POST|PUT) \/groups(?:\/:id)?$/;

/** Parameters of reads: they add fields or choose an order, and never narrow a list. */
const reads: Treatment[] = [
  { routes: read, reason: 'pages are numbered', names: 'pagination page_token' },
  { routes: read, reason: 'the list has one order', names: 'order_by sort' },
  { routes: /^GET \/groups\/:id$/, reason: 'the answer is no list', names: 'page per_page' },
  {
    routes: read,
    reason: 'adds fields that are not kept',
    names: 'with_custom_attributes show_seat_info',
  },
  { routes: /^GET \/groups/, reason: 'sizes are counted for each project', names: 'statistics' },
  {
    routes: read,
    reason: 'there is no text to render',
    names: 'include_html_description',
  },
  { routes: read, reason: 'diffs always have the lines --- and +++', names: 'unidiff' },
  { routes: read, reason: 'diffs are always computed by git', names: 'access_raw_diffs' },
  {
    routes: /^GET .*\/merge_requests/,
    reason: 'a read checks open merge requests',
    names: 'with_merge_status_recheck',
  },
  {
    routes: /^GET .*\/merge_requests/,
    reason: 'rebase_in_progress is always answered',
    names: 'include_rebase_in_progress',
  },
  {
    routes: /^GET \/projects\/:id$/,
    reason: 'not a parameter of the API',
    names: 'container_registry_access_level',
  },
  { routes: /^GET .*\/jobs$/, reason: 'every job of the project is listed', names: 'include_retried' },
  { routes: /^GET .*\/raw$/, reason: 'files of LFS are answered as pointers', names: 'lfs' },
  { routes: /^GET \/users?(?:$|\/)/, reason: 'not a parameter of the API', names: 'as_admin' },
  {
    routes: /^GET .*\/milestones$/,
    reason: 'those of subgroups and of projects have lists of their own',
    names: 'include_descendents include_descendants',
  },
  {
    routes: /^GET .*\/(?:projects|starred_projects|contributed_projects|forks)$/,
    reason: 'adds what is not kept: deleted projects are gone',
    names: 'include_hidden include_pending_delete',
  },
  { routes: /^GET .*\/artifacts/, reason: 'the path names the job', names: 'job' },
  { routes: /^GET .*\/bridges$/, reason: 'there are no retried bridges', names: 'include_retried' },
  {
    routes: /\/projects\/:id\/repository_storage_moves/,
    reason: 'the path names the project, and the project its storage',
    names: 'project_id source_storage_name',
  },
  {
    routes: /\/templates\/licenses\/:key$/,
    reason: 'not a parameter of the API: the name is sent as fullname',
    names: 'full_name',
  },
  { routes: /^GET .*\/pipelines\/:pipeline_id$/, reason: 'the path names the pipeline', names: 'ref' },
];

const paid = 'a feature of paid editions';
const elsewhere = 'concerns a feature that Gantry does not have';

const writes: Treatment[] = [
  {
    reason: paid,
    names: `approvals_before_merge epic_id epic_iid weight member_role_id auditor shared_runners_minutes_limit
      extra_shared_runners_minutes_limit group_id_for_saml code_owner_approval_required allowed_to_merge
      allowed_to_push allowed_to_unprotect allowed_to_create unprotect_access_level approval_password
      base_access_level read_code`,
  },
  {
    reason: 'belongs to another edition of the API',
    names: 'tasks_to_be_done organization_id permanently_remove',
  },
  {
    reason: 'the path names the record',
    names: 'full_path name token',
    routes: /^(?:PUT|DELETE|POST) .*\/(?::\w+|reset_registration_token)$/,
  },
  { reason: elsewhere, names: 'cluster_agent_id kubernetes_namespace flux_resource_path auto_stop_setting' },
  { reason: elsewhere, names: 'archived', routes: /^(?:POST|PUT) .*\/labels/ },
  {
    reason: 'a deploy key expires as it was created',
    names: 'expires_at',
    routes: /\/deploy_keys\/:key_id$/,
  },
  { reason: 'a job is canceled at once', names: 'force', routes: /\/cancel$/ },
  { reason: elsewhere, names: 'job_inputs', routes: /\/play$/ },
  {
    reason: 'administrators alone skip the confirmation',
    names: 'skip_confirmation',
    routes: /\/user\/emails$/,
  },
  { reason: 'not a parameter of the API', names: 'file_path', routes: /\/assets\/links/ },
  {
    reason: 'the time of a note is that of its creation',
    names: 'created_at',
    routes: /\/discussions\/.*notes|commits.*discussions/,
  },
  {
    reason: 'comments of commits take a position with the discussion',
    names: 'position',
    routes: /commits.*\/notes$/,
  },
  {
    routes: anyProject,
    reason: paid,
    names: `merge_pipelines_enabled merge_trains_enabled merge_trains_skip_train_allowed mirror mirror_branch_regex
      mirror_overwrites_diverged_branches mirror_trigger_builds mirror_user_id only_mirror_protected_branches
      external_authorization_classification_label requirements_access_level
      only_allow_merge_if_all_status_checks_passed issues_template merge_requests_template use_custom_template
      group_with_project_templates_id template_project_id allow_pipeline_trigger_approve_deployment
      auto_duo_code_review_enabled ci_restrict_pipeline_cancellation_role prevent_merge_without_jira_issue
      protect_merge_request_pipelines reviewer_assignment_strategy cicd_catalog_enabled`,
  },
  {
    routes: anyProject,
    reason: elsewhere,
    names: `analytics_access_level auto_devops_deploy_strategy auto_devops_enabled container_expiration_policy_attributes
      container_registry_access_level environments_access_level
      feature_flags_access_level forking_access_level infrastructure_access_level model_experiments_access_level
      model_registry_access_level monitor_access_level operations_access_level package_registry_access_level
      packages_enabled pages_access_level releases_access_level
      security_and_compliance_access_level service_desk_enabled show_default_award_emojis template_name wall_enabled
      enforce_auth_checks_on_uploads ci_push_repository_for_job_token_allowed ci_id_token_sub_claim_components
      mr_default_target_self`,
  },
  {
    routes: anyProject,
    reason: 'the behaviour is fixed',
    names: `allow_merge_on_skipped_pipeline build_coverage_regex build_git_strategy
      ci_delete_pipelines_in_seconds ci_forward_deployment_enabled ci_forward_deployment_rollback_allowed
      ci_allow_fork_pipelines_to_run_in_parent_project ci_display_pipeline_variables
      ci_pipeline_variables_minimum_override_role ci_separated_caches issue_branch_template
      merge_request_title_regex merge_request_title_regex_description mr_default_title_template
      resolve_outdated_diff_discussions resource_group_default_process_mode
      restrict_user_defined_variables`,
  },
  {
    routes: /\/projects\/user\/:user_id$/,
    reason: 'the project is created empty or by an import, in the namespace of the user',
    names: 'initialize_with_readme namespace_id builds_enabled only_allow_merge_if_build_succeeds',
  },
  { routes: /^PUT \/projects\/:id$/, reason: 'a project is imported at its creation', names: 'import_url' },
  { routes: /\/broadcast_messages(?:\/:id)?$/, reason: 'follows from the times', names: 'active' },
  {
    routes: /\/topics(?:\/:id)?$/,
    reason: 'one client sends the picture under a name that GitLab ignores, too',
    names: 'file',
  },
  { routes: /\/fork$/, reason: 'a fork has all branches', names: 'branches mr_default_target_self' },
  {
    routes: anyGroup,
    reason: paid,
    names: `allow_merge_on_skipped_pipeline allowed_email_domains_list auto_ban_user_on_excessive_projects_download
      duo_availability duo_features_enabled lock_duo_features_enabled experiment_features_enabled
      file_template_project_id ip_restriction_ranges membership_lock only_allow_merge_if_pipeline_succeeds
      only_allow_merge_if_all_discussions_are_resolved prevent_forking_outside_group
      prevent_sharing_groups_outside_hierarchy step_up_auth_required_oauth_provider unique_project_download_limit
      unique_project_download_limit_alertlist unique_project_download_limit_allowlist
      unique_project_download_limit_interval_in_seconds web_based_commit_signing_enabled wiki_access_level
      enabled_git_access_protocol`,
  },
  {
    routes: anyGroup,
    reason: elsewhere,
    names: `auto_devops_enabled crm_enabled emails_disabled emails_enabled mentions_disabled allow_personal_snippets
      math_rendering_limits_enabled lock_math_rendering_limits_enabled max_artifacts_size shared_runners_setting
      require_two_factor_authentication two_factor_grace_period share_with_group_lock project_creation_level
      subgroup_creation_level default_branch default_branch_protection default_branch_protection_defaults`,
  },
  {
    routes: /\/users(?:\/:id)?$/,
    reason: 'the profile does not have it',
    names: `color_scheme_id theme_id commit_email discord github job_title pronouns private_profile
      view_diffs_file_by_file extern_uid provider`,
  },
  {
    routes: /^PUT \/users\/:id$/,
    reason: 'an administrator sets the password',
    names: 'force_random_password reset_password skip_confirmation',
  },
  {
    routes: /^PUT .*\/variables\/:key$/,
    reason: 'a variable is hidden from its creation or never',
    names: 'masked_and_hidden',
  },
  {
    routes: /commits\/:sha\/discussions$/,
    reason: 'the path names the commit',
    names: 'commit_id',
  },
  {
    routes: /\/merge_requests\/:merge_request_iid\/notes$/,
    reason: 'comments are about the newest version',
    names: 'merge_request_diff_sha',
  },
  { routes: /\/members$/, reason: 'members are added by id', names: 'username' },
  {
    routes: /\/(?:invitations|members)$/,
    reason: 'only describes where the invitation comes from',
    names: 'invite_source tasks_project_id',
  },
  {
    routes: /\/members\/:user_id$/,
    reason: 'the membership alone is removed',
    names: 'skip_subresources skip_subresource_s unassign_issuables',
  },
  { routes: /\/issues(?:\/:issue_iid)?$/, reason: 'there is one type of issue', names: 'issue_type' },
  { routes: /\/issues$/, reason: 'the next number is taken', names: 'iid' },
  {
    routes: /\/merge_requests(?:\/:merge_request_iid)?$/,
    reason: elsewhere,
    names: 'allow_collaboration allow_maintainer_to_push commits squash_on_merge',
  },
  {
    routes: /\/merge_requests\/.*\/(?:notes|discussions|draft_notes)$/,
    reason: 'comments are about the newest version',
    names: 'merge_request_diff_head_sha commit_id',
  },
  { routes: /\/milestones$/, reason: 'a milestone is created open', names: 'state_event' },
  { reason: 'the setting does not exist here', names: '*', routes: /^PUT \/application\/settings$/ },
];

const treatments: Treatment[] = [...reads, ...writes];

/** Why filters that are declared as `unsupportedFilter` cannot act. */
const refusals: Treatment[] = [
  {
    reason: paid,
    names: 'epic_id health_status iteration_id iteration_title weight approver_ids saml_provider_id',
  },
  { reason: paid, names: 'with_saml_identity with_security_reports' },
  {
    reason: 'events name the record that they are about: target_type, target_id',
    names: 'entity_type entity_id',
  },
  { reason: 'repositories have no replicas', names: 'repository_checksum_failed wiki_checksum_failed' },
  { reason: 'languages are read from the repository, and not stored', names: 'with_programming_language' },
  { reason: 'the list is not searched by status messages', names: 'status' },
  { reason: 'who created a user is not stored', names: 'created_by' },
  { reason: 'custom attributes are not stored', names: 'custom_attributes' },
  { reason: 'projects alone have a storage', names: 'repository_storage' },
  { reason: 'a list of few tokens', names: 'scopes' },
  { reason: 'the list has shared projects alone', names: 'with_shared' },
  { reason: 'each project of the search has refs of its own', names: 'ref' },
];

/** The reason why a filter is refused; null: none is recorded. */
export const refusalReason = (name: string): string | null =>
  refusals.find(({ names }) => names.split(/\s+/).includes(name))?.reason ?? null;

/** The reason of the first treatment that covers a parameter of a request; null: none does. */
export const treatmentReason = (request: string, name: string): string | null => {
  const isWrite = !read.test(request);
  const covers = ({ names, routes }: Treatment): boolean =>
    (routes?.test(request) ?? isWrite) && (names === '*' || names.split(/\s+/).includes(name));
  return treatments.find(covers)?.reason ?? null;
};
