/** The forms for new records of a project, for the menu “Create” on its pages and for the palette. */
import { listOwnForks } from '../../../../code/repository/forks/own_forks.ts';
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { CreateLink, Visit } from '../../page.ts';
import { isBareNoun, projectRoot } from '../../project_and_group_pages.ts';
import { encodePath } from '../code/encode_path.ts';

/**
 * Returns whether the viewer can propose changes to the project: by a branch of the project, of a fork, or of a fork
 * that they may create.
 */
export const canPropose = async ({ call }: Visit, project: Project): Promise<boolean> => {
  const hasForm = call.signedIn && call.platform.hasPage(`GET ${projectRoot}/merge_requests/new`);
  if (!hasForm || !may(call.viewer, 'create_merge_request_in', project)) return false;
  return (
    may(call.viewer, 'create_merge_request_from', project) ||
    may(call.viewer, 'fork_project', project) ||
    (await listOwnForks(call, project)).length > 0
  );
};

type NewRecord = Pick<CreateLink, 'name' | 'icon'> & {
  /** Path below the project; `:branch` is replaced by the default branch. */
  path: string;
  action: ProjectAction;
  /** A repository without commits has none. */
  needsCommit?: true;
  /** Only the palette offers it. */
  isRare?: true;
};

const newRecords: readonly NewRecord[] = [
  { name: 'New issue', icon: 'issue', path: 'issues/new', action: 'create_issue' },
  {
    name: 'New merge request',
    icon: 'merge-request',
    path: 'merge_requests/new',
    action: 'create_merge_request_in',
    needsCommit: true,
  },
  {
    name: 'New file',
    icon: 'file',
    path: 'new/:branch',
    action: 'push_code',
    needsCommit: true,
  },
  { name: 'New branch', icon: 'branch', path: 'branches/new', action: 'push_code', needsCommit: true },
  { name: 'New tag', icon: 'tag', path: 'tags/new', action: 'push_code', needsCommit: true },
  {
    name: 'New pipeline',
    icon: 'pipeline',
    path: 'pipelines/new',
    action: 'create_pipeline',
    needsCommit: true,
  },
  { name: 'New snippet', icon: 'file', path: 'snippets/new', action: 'create_snippet' },
  {
    name: 'New release',
    icon: 'package',
    path: 'releases/new',
    action: 'admin_release',
    needsCommit: true,
    isRare: true,
  },
  { name: 'New label', icon: 'label', path: 'labels/new', action: 'admin_label', isRare: true },
  {
    name: 'New milestone',
    icon: 'milestone',
    path: 'milestones/new',
    action: 'admin_milestone',
    isRare: true,
  },
  { name: 'New board', icon: 'list', path: 'boards/new', action: 'admin_board', isRare: true },
  {
    name: 'New pipeline schedule',
    icon: 'clock',
    path: 'pipeline_schedules#new',
    action: 'admin_schedule',
    needsCommit: true,
    isRare: true,
  },
  { name: 'Fork project', icon: 'fork', path: 'forks/new', action: 'fork_project', isRare: true },
];

const toPath = ({ full_path, default_branch }: Project, { path }: NewRecord): string => {
  const below = path.replace(':branch', () => encodePath(default_branch ?? ''));
  return `/${full_path}/${isBareNoun(path) ? below : `-/${below}`}`;
};

/** Lists the forms that the viewer may fill. @param isWhole also those that only the palette offers */
export const listCreateLinks = async (
  visit: Visit,
  project: Project,
  isWhole = false,
): Promise<CreateLink[]> => {
  const { viewer, signedIn } = visit.call;
  if (!signedIn) return [];
  const hasCommit = project.default_branch !== null;
  const allowed = newRecords.filter(
    ({ action, needsCommit = false, isRare = false }) =>
      (hasCommit || !needsCommit) && (isWhole || !isRare) && may(viewer, action, project),
  );
  const proposes = hasCommit && (await canPropose(visit, project));
  return allowed
    .filter(({ action }) => action !== 'create_merge_request_in' || proposes)
    .map((record) => ({ path: toPath(project, record), name: record.name, icon: record.icon }));
};
