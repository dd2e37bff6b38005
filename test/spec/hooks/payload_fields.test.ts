/** Every payload of `docs/webhook_payloads.json`, which a receiver got, has the fields that receivers read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

// oxlint-disable-next-line typescript/no-explicit-any -- payloads, that the test inspects
type Json = any;

const file = join(import.meta.dirname, '../../../docs/webhook_payloads.json');
const payloads = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { event: string; payload: Json }>;

const checks: Record<string, (value: unknown) => boolean> = {
  s: (value) => typeof value === 'string',
  n: (value) => typeof value === 'number',
  b: (value) => typeof value === 'boolean',
  a: (value) => Array.isArray(value),
  o: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Lists the fields that are missing or of another type. @param fields such as `id:n title:s closed_at:s?` */
const findFaults = (value: Json, fields: string, at: string): string[] => {
  if (!checks['o']?.(value)) return [`${at} is no object`];
  return fields
    .trim()
    .split(/\s+/)
    .flatMap((field) => {
      const [, name = '', type = '', nullable] = /^(\w+):(\w)(\?)?$/.exec(field) ?? [];
      if (!(name in value)) return [`${at}.${name} is missing`];
      if (nullable !== undefined && value[name] === null) return [];
      return checks[type]?.(value[name]) === true ? [] : [`${at}.${name} is ${JSON.stringify(value[name])}`];
    });
};

const user = 'id:n name:s username:s avatar_url:s? email:s';
const project = `id:n name:s description:s? web_url:s avatar_url:s? git_ssh_url:s git_http_url:s namespace:s
  visibility_level:n path_with_namespace:s default_branch:s? homepage:s url:s ssh_url:s http_url:s ci_config_path:s?`;
const repository = 'name:s url:s description:s? homepage:s git_http_url:s git_ssh_url:s visibility_level:n';
const commit = 'id:s message:s title:s timestamp:s url:s author:o';
const push = `object_kind:s event_name:s before:s after:s ref:s ref_protected:b checkout_sha:s? message:s? user_id:n
  user_name:s user_username:s user_email:s user_avatar:s? project_id:n commits:a total_commits_count:n push_options:o`;
const issue = `id:n iid:n project_id:n title:s description:s? state:s confidential:b author_id:n assignee_id:n?
  assignee_ids:a milestone_id:n? labels:a due_date:s? created_at:s updated_at:s closed_at:s? url:s time_estimate:n
  total_time_spent:n`;
const request = `id:n iid:n title:s description:s? state:s source_branch:s target_branch:s source_project_id:n
  target_project_id:n source:o target:o last_commit:o merge_status:s detailed_merge_status:s merge_commit_sha:s? draft:b
  work_in_progress:b author_id:n assignee_ids:a reviewer_ids:a labels:a url:s created_at:s updated_at:s merge_params:o
  head_pipeline_id:n? blocking_discussions_resolved:b`;
const note = `id:n note:s noteable_type:s noteable_id:n? author_id:n action:s discussion_id:s position:o? commit_id:s?
  url:s system:b created_at:s updated_at:s`;
const pipeline = `id:n iid:n name:s? ref:s tag:b sha:s before_sha:s source:s status:s detailed_status:s stages:a
  created_at:s finished_at:s? duration:n? queued_duration:n? variables:a url:s`;
const job = `id:n stage:s name:s status:s created_at:s started_at:s? finished_at:s? duration:n? queued_duration:n?
  failure_reason:s? when:s manual:b allow_failure:b user:o runner:o? artifacts_file:o environment:o?`;
const build = `ref:s tag:b before_sha:s sha:s retries_count:n build_id:n build_name:s build_stage:s build_status:s
  build_created_at:s build_started_at:s? build_finished_at:s? build_duration:n? build_queued_duration:n?
  build_allow_failure:b build_failure_reason:s? pipeline_id:n runner:o? project_id:n project_name:s user:o commit:o
  repository:o environment:o?`;

type Schema = { own: string; parts?: (payload: Json) => [string, Json, string][] };

const common = (payload: Json): [string, Json, string][] => [
  ['user', payload.user, user],
  ['project', payload.project, project],
  ['repository', payload.repository, repository],
];

const place = (payload: Json): [string, Json, string][] => common(payload).slice(1);

const each = (name: string, list: Json[], fields: string): [string, Json, string][] =>
  list.map((one, at) => [`${name}[${at}]`, one, fields]);

const pushSchema: Schema = {
  own: push,
  parts: (payload) => [
    ...place(payload),
    ...each('commits', payload.commits, `${commit} added:a modified:a removed:a`),
    ...each(
      'authors',
      payload.commits.map(({ author }: Json) => author),
      'name:s email:s',
    ),
  ],
};

const subjects = (payload: Json): [string, Json, string][] => [
  ...('issue' in payload ? [['issue', payload.issue, issue] as [string, Json, string]] : []),
  ...('merge_request' in payload
    ? [['merge_request', payload.merge_request, request] as [string, Json, string]]
    : []),
  ...('commit' in payload ? [['commit', payload.commit, commit] as [string, Json, string]] : []),
];

const schemas: Record<string, Schema> = {
  push: pushSchema,
  tag_push: pushSchema,
  repository_update: { own: 'event_name:s user_id:n project_id:n changes:a refs:a project:o' },
  issue: {
    own: 'object_kind:s event_type:s user:o project:o repository:o object_attributes:o labels:a changes:o',
    parts: (payload) => [
      ...common(payload),
      ['object_attributes', payload.object_attributes, `${issue} action:s`],
      ...each('assignees', payload.assignees ?? [], user),
    ],
  },
  merge_request: {
    own: 'object_kind:s event_type:s user:o project:o repository:o object_attributes:o labels:a changes:o',
    parts: (payload) => [
      ...common(payload),
      ['object_attributes', payload.object_attributes, `${request} action:s`],
      ['last_commit', payload.object_attributes.last_commit, commit],
      ['source', payload.object_attributes.source, project],
      ['target', payload.object_attributes.target, project],
      ...each('reviewers', payload.reviewers ?? [], user),
    ],
  },
  note: {
    own: 'object_kind:s event_type:s user:o project_id:n project:o repository:o object_attributes:o',
    parts: (payload) => [
      ...common(payload),
      ['object_attributes', payload.object_attributes, note],
      ...subjects(payload),
    ],
  },
  emoji: { own: 'object_kind:s user:o project:o object_attributes:o', parts: common },
  pipeline: {
    own: 'object_kind:s user:o project:o object_attributes:o commit:o builds:a merge_request:o?',
    parts: (payload) => [
      ...common(payload).slice(0, 2),
      ['object_attributes', payload.object_attributes, pipeline],
      ['commit', payload.commit, commit],
      ...each('builds', payload.builds, job),
    ],
  },
  build: { own: build },
  release: {
    own: `id:n created_at:s description:s? name:s released_at:s tag:s url:s action:s assets:o commit:o`,
    parts: (payload) => [...place(payload), ['commit', payload.commit, commit]],
  },
  deployment: {
    own: `status:s deployment_id:n deployable_id:n deployable_url:s environment:s user:o short_sha:s commit_url:s
      commit_title:s ref:s project:o`,
  },
  member: {
    own: 'event_name:s user_id:n user_name:s user_username:s user_email:s created_at:s updated_at:s expires_at:s?',
  },
  user: { own: 'event_name:s created_at:s updated_at:s name:s email:s user_id:n username:s' },
  group: { own: 'event_name:s created_at:s updated_at:s name:s path:s full_path:s group_id:n' },
  project: {
    own: `event_name:s created_at:s updated_at:s name:s path:s path_with_namespace:s project_id:n owners:a
      project_visibility:s owner_name:s?`,
  },
  key: { own: 'event_name:s created_at:s updated_at:s username:s key:s id:n' },
};

const kindOf = (payload: Json): string => payload.object_kind ?? String(payload.event_name).split('_')[0];

for (const [name, { payload }] of Object.entries(payloads)) {
  test(`a payload has the fields of its kind: ${name}`, () => {
    const schema = schemas[kindOf(payload)];
    assert.ok(schema !== undefined, `no schema for ${kindOf(payload)}`);
    const faults = [
      ...findFaults(payload, schema.own, 'payload'),
      ...(schema.parts?.(payload) ?? []).flatMap(([at, value, fields]) => findFaults(value, fields, at)),
    ];
    assert.deepEqual(faults, []);
  });
}

test('there is a payload for each event and action', () => {
  const seen = new Set(
    Object.values(payloads).flatMap(({ event, payload }) => [
      event,
      payload.event_name,
      `${kindOf(payload)} ${payload.object_attributes?.action ?? payload.action}`,
      `${kindOf(payload)} ${payload.object_attributes?.noteable_type}`,
    ]),
  );
  const wanted = `Push Hook,Tag Push Hook,Issue Hook,Confidential Issue Hook,Note Hook,Confidential Note Hook,
    Merge Request Hook,Pipeline Hook,Job Hook,Release Hook,Deployment Hook,Member Hook,System Hook,
    issue open,issue close,issue reopen,issue update,merge_request open,merge_request close,merge_request reopen,
    merge_request update,merge_request approved,merge_request unapproved,merge_request merge,
    note Commit,note MergeRequest,note Issue,note Snippet,release create,release update,release delete,
    project_create,project_destroy,project_rename,project_transfer,project_update,user_create,user_destroy,user_rename,
    user_failed_login,user_add_to_team,user_remove_from_team,user_update_for_team,group_create,group_destroy,
    group_rename,user_add_to_group,user_remove_from_group,user_update_for_group,key_create,key_destroy,repository_update`;
  const missing = wanted.split(/,\s*/).filter((one) => !seen.has(one));
  assert.deepEqual(missing, []);
});

test('a deleted ref has no commit, and code that was pushed has the former one', () => {
  const of = (name: string): Json => payloads[name]?.payload;
  const { after, checkout_sha } = of('push: deleted branch');
  assert.deepEqual([after, checkout_sha], ['0'.repeat(40), null]);
  assert.match(of('merge_request: update by a push').object_attributes.oldrev, /^[0-9a-f]{40}$/);
  assert.equal('oldrev' in of('merge_request: update').object_attributes, false);
  assert.deepEqual(
    Object.keys(of('merge_request: update').changes)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(0, 2),
    ['draft', 'labels'],
  );
});
