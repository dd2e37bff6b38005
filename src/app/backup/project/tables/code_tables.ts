/** Tables of code and releases. */
import { author, discussion, knownUser, ofProject, optionalUser, rowOf, text } from '../column_rules.ts';
import { type TableSpec, project, ofTable } from './table_spec.ts';

export const codeTables: readonly TableSpec[] = [
  { name: 'protected_branches', where: project, columns: { project_id: ofProject } },
  { name: 'protected_tags', where: project, columns: { project_id: ofProject } },
  {
    name: 'releases',
    where: project,
    columns: { project_id: ofProject, author_id: optionalUser, description: text },
  },
  {
    name: 'release_milestones',
    where: ofTable('release_id', 'releases'),
    columns: { release_id: rowOf('releases'), milestone_id: rowOf('milestones') },
  },
  {
    name: 'release_links',
    where: ofTable('release_id', 'releases'),
    columns: { release_id: rowOf('releases') },
  },
  { name: 'badges', where: project, columns: { project_id: ofProject } },
  { name: 'project_stars', where: project, columns: { project_id: ofProject, user_id: knownUser } },
  {
    name: 'commit_comments',
    where: project,
    columns: { project_id: ofProject, author_id: author, note: text, discussion_id: discussion },
  },
];
