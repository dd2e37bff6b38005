/** Loads what pages show of deployments: the user, the job, and links to the ref and the commit. */
import { type DeploymentJob, loadDeploymentJobs } from '../../../../ci/environments/deployments/load_jobs.ts';
import type { DeploymentRow } from '../../../../ci/environments/queries.ts';
import { type basicUserShape, basicUser, basicUsersById } from '../../../../identity/users/json.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Html } from '../../parts/html.ts';
import { loadRevisionLinks } from '../../parts/pipelines/revision_links.ts';
import type { Visit } from '../../page.ts';
import type { Static } from 'typebox';

export type ShownDeployment = {
  row: DeploymentRow;
  user: Static<typeof basicUserShape> | null;
  job: DeploymentJob | null;
  ref: Html;
  commit: Html;
  /** Title of the commit; null if the viewer may not read it, or it is gone. */
  title: string | null;
};

/** Loads them in a constant number of statements. */
export const loadDeployments = async (
  visit: Visit,
  project: Project,
  rows: readonly DeploymentRow[],
): Promise<ShownDeployment[]> => {
  const { call } = visit;
  const userIds = rows.map(({ user_id }) => user_id).filter((id) => id !== null);
  const [users, jobs] = await Promise.all([
    basicUsersById(call.db, userIds),
    loadDeploymentJobs(call.db, rows),
  ]);
  const revisions = rows.map((row) => {
    const job = jobs.get(row.job_id ?? 0) ?? null;
    return { ...row, job, merge_request_id: job?.merge_request_id ?? null };
  });
  const links = await loadRevisionLinks(visit, project, revisions);
  return revisions.map((revision, at) => {
    const user = users.get(revision.user_id ?? 0);
    return {
      row: rows[at] as DeploymentRow,
      user: user === undefined ? null : basicUser(user, call),
      job: revision.job,
      ref: links.refLink(revision),
      commit: links.commitLink(revision),
      title: links.titleOf(revision),
    };
  });
};
