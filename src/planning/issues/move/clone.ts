/** Clones an issue into a project: a new open issue of the caller, with the same content. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { refused } from '../../../platform/errors.ts';
import { findLabels } from '../../../projects/labels/find_by_title.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { clonedFromText, clonedToText } from '../../issuables/text/system_note_text.ts';
import { addSystemNotes } from '../../notes/add_system_notes.ts';
import { type NewIssue, createIssue } from '../create.ts';
import type { ClonedName } from '../fields.ts';
import { type LoadedIssue, reloadIssue } from '../find.ts';
import { copyNotes } from './copy_notes.ts';
import { findSameMilestone, findTargetProject } from './find_in_target.ts';
import { rewriteText } from './rewrite_text.ts';

const noPermission = () => refused('Cannot clone issue due to insufficient permissions!');

/** Reads the content of the clone. Labels and the milestone are those of the same title in the target project. */
const readContent = async (call: Call, { issue, project, target }: LoadedIssue, to: Project) => {
  const { db, platform } = call;
  const { description, due_date, milestone } = issue;
  const isElsewhere = to.id !== project.id;
  const source = { db, dialect: platform.store.dialect };
  const text =
    description !== null && isElsewhere ? await rewriteText(source, project, description) : description;
  const labels = await findLabels(db, to, issue.labels);
  return {
    title: issue.title,
    confidential: issue.confidential === 1,
    due_date,
    description: text,
    assignee_ids: target.assignee_ids,
    milestone_id: await findSameMilestone(db, to, milestone?.title),
    add_label_ids: labels.map(({ id }) => id),
    time_estimate: issue.time_estimate,
  } satisfies NewIssue & Record<ClonedName, unknown>;
};

const copyComments = async (tx: Tx, from: LoadedIssue, { id, project_id }: LoadedIssue['target']) => {
  await copyNotes(tx, from, { id, project_id }, { withSystemNotes: false });
  await sql`update issues set user_notes_count = (select count(*) from notes where target_type = 'Issue'
    and target_id = ${id} and system = 0 and internal = 0) where id = ${id}`.execute(tx.db);
};

/**
 * Clones an issue. Both projects may be the same.
 * @throws Failure 400 without permission and for a hidden target; 404 if an administrator names a missing target
 */
export const cloneIssue = async (
  call: Call,
  loaded: LoadedIssue,
  { to_project_id, with_notes }: { to_project_id: number; with_notes: boolean },
): Promise<LoadedIssue> => {
  const { project, target } = loaded;
  const to = await findTargetProject(call, to_project_id, noPermission);
  if (!may(call.viewer, 'move_issue', project) || !may(call.viewer, 'move_issue', to)) throw noPermission();
  const { user } = requireActor(call);
  const { target: clone } = await createIssue(call, to, await readContent(call, loaded, to), {
    keepsActions: true,
    follow: async (tx, { target: made }) => {
      if (with_notes) await copyComments(tx, loaded, made);
      await addSystemNotes(tx, user.id, target, [clonedToText(to.full_path, made.iid)]);
      await addSystemNotes(tx, user.id, made, [clonedFromText(project.full_path, target.iid)]);
    },
  });
  return await reloadIssue(call.db, to, clone.id);
};
