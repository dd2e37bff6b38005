/** The tables that a restored project gets rows of, in the order in which their rows refer to each other. */
import { certainUser, ofProject, optionalUser, uploadSecret } from '../column_rules.ts';
import { type TableSpec, project } from './table_spec.ts';
import { ciTables } from './ci_tables.ts';
import { codeTables } from './code_tables.ts';
import { planningTables } from './planning_tables.ts';
import { reviewTables } from './review_tables.ts';

export const restoredTables: readonly TableSpec[] = [
  // Must precede: milestones of groups get an iid in the project.
  { name: 'iid_sequences', where: project, columns: { project_id: ofProject } },
  // Must precede the texts that contain their URLs.
  {
    name: 'uploads',
    where: project,
    columns: { project_id: ofProject, user_id: optionalUser, secret: uploadSecret },
  },
  ...planningTables,
  ...reviewTables,
  ...codeTables,
  ...ciTables,
  {
    name: 'members',
    where: "source_type = 'Project' and source_id = ?1",
    columns: { source_id: ofProject, user_id: certainUser, created_by_id: optionalUser },
  },
];
