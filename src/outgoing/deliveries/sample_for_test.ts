/** Finds a record whose payload tests a hook: the latest one of the kind that the trigger names. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { requireUser } from '../../core/access/call.ts';
import type { RecordedChange } from '../../core/events/record_event.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { zeroOid } from '../../platform/git/protocol_types.ts';
import { loadProject } from '../../projects/projects/find.ts';
import { makePlans } from '../changes/hook_plans.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';
import { takeSnapshot } from '../changes/snapshots/take_snapshot.ts';
import type { EventFlag } from '../hooks/event_flags.ts';
import type { HookOwner } from '../hooks/owners.ts';

type Sample = Pick<RecordedChange, 'kind' | 'target_type' | 'target_id'> & { data?: object };

/** Tables with the latest record of a trigger, its condition, and the change that it represents. */
const tables: { [F in EventFlag]?: { from: string; kind: string; type: string; where?: string } } = {
  issues_events: {
    from: 'issues',
    kind: 'issue.created',
    type: 'Issue',
    where: 'confidential = 0 and deleted_at is null',
  },
  confidential_issues_events: {
    from: 'issues',
    kind: 'issue.created',
    type: 'Issue',
    where: 'confidential = 1 and deleted_at is null',
  },
  merge_requests_events: {
    from: 'merge_requests',
    kind: 'merge_request.created',
    type: 'MergeRequest',
    where: 'deleted_at is null',
  },
  note_events: {
    from: 'notes',
    kind: 'note.created',
    type: 'Note',
    where: `system = 0 and internal = 0 and not exists (select 1 from issues where notes.target_type = 'Issue'
      and issues.id = notes.target_id and issues.confidential = 1)`,
  },
  confidential_note_events: {
    from: 'notes',
    kind: 'note.created',
    type: 'Note',
    where: `system = 0 and (internal = 1 or exists (select 1 from issues where notes.target_type = 'Issue'
      and issues.id = notes.target_id and issues.confidential = 1))`,
  },
  job_events: { from: 'jobs', kind: 'job.status', type: 'Job' },
  pipeline_events: { from: 'pipelines', kind: 'pipeline.status', type: 'Pipeline' },
  deployment_events: { from: 'deployments', kind: 'deployment.status', type: 'Deployment' },
  releases_events: { from: 'releases', kind: 'release.created', type: 'Release' },
};

/** The project whose records test the hooks of its owner: the project with the latest activity. */
const findProjectId = async ({ db }: Call, owner: HookOwner): Promise<number | null> => {
  if (owner.type === 'project') return owner.id;
  let query = db.selectFrom('projects').select('id').where('deleted_at', 'is', null);
  if (owner.type === 'group')
    query = query.where(sql<boolean>`namespace_id in ${selectDescendants(owner.id)}`);
  const row = await query
    .orderBy('last_activity_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
};

const findRecord = async ({ db }: Call, projectId: number, flag: EventFlag): Promise<Sample | null> => {
  const table = tables[flag];
  if (table === undefined) return null;
  const { rows } = await sql<{ id: number | null }>`select max(id) as id from ${sql.table(table.from)}
    where project_id = ${projectId} and ${sql.raw(table.where ?? '1 = 1')}`.execute(db);
  const id = rows[0]?.id ?? null;
  return id === null ? null : { kind: table.kind, target_type: table.type, target_id: id };
};

const loadHead = async ({ db, platform }: Call, projectId: number) => {
  const project = await loadProject(db, projectId);
  if (project === null || project.default_branch === null) return null;
  const name = `refs/heads/${project.default_branch}`;
  const repository = getRepository(platform, project);
  const { refs } = await repository.ask('refs.get', { names: [name] });
  const id = refs[0]?.commit ?? null;
  if (id === null) return null;
  const { commits } = await repository.ask('commits.get', { ids: [id] });
  return { name, id, before: commits[0]?.parents[0] ?? zeroOid };
};

/** A push of the latest commit of the default branch, or a tag of it. */
const findPush = async (call: Call, projectId: number, flag: EventFlag): Promise<Sample | null> => {
  const head = await loadHead(call, projectId);
  if (head === null) return null;
  const target = { kind: 'ref.updated', target_type: 'Project', target_id: projectId };
  const update = { ref: head.name, before: head.before, after: head.id };
  if (flag === 'push_events') return { ...target, data: update };
  if (flag === 'repository_update_events') return { ...target, data: { ...update, refs: [update] } };
  return { ...target, data: { ref: 'refs/tags/v1.0.0', before: zeroOid, after: head.id } };
};

const findMember = async (call: Call, projectId: number): Promise<Sample> => ({
  kind: 'member.added',
  target_type: 'Member',
  target_id: 0,
  data: { user_id: requireUser(call).id, access_level: 30, source_type: 'Project', source_id: projectId },
});

const pushFlags: readonly EventFlag[] = ['push_events', 'tag_push_events', 'repository_update_events'];

const findEmoji = async (call: Call, projectId: number): Promise<Sample | null> => {
  const issue = await findRecord(call, projectId, 'issues_events');
  if (issue === null) return null;
  const { target_id } = issue;
  const data = { id: 1, name: 'thumbsup', awardable_type: 'Issue', awardable_id: target_id };
  return { kind: 'award_emoji.created', target_type: 'Issue', target_id, data };
};

const findSample = async (call: Call, projectId: number, flag: EventFlag): Promise<Sample | null> => {
  if (pushFlags.includes(flag)) return await findPush(call, projectId, flag);
  if (flag === 'member_events') return await findMember(call, projectId);
  if (flag === 'emoji_events') return await findEmoji(call, projectId);
  return await findRecord(call, projectId, flag);
};

/** Takes the snapshot of a sample; null if no such record exists. */
export const takeSample = async (call: Call, owner: HookOwner, flag: EventFlag): Promise<Snapshot | null> => {
  const project_id = await findProjectId(call, owner);
  const sample = project_id === null ? null : await findSample(call, project_id, flag);
  if (sample === null) return null;
  const change: RecordedChange = {
    ...sample,
    project_id,
    actor_id: requireUser(call).id,
    event_id: null,
    hooks_version: null,
  };
  const plan = makePlans(change).find(({ flags }) => flags.includes(flag));
  if (plan === undefined) return null;
  return await call.write(async (tx) => await takeSnapshot(tx, change, plan));
};
