/** Loads the labels and milestones that references name, one statement for each kind. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { type ProjectAction, may } from '../../../core/access/may.ts';
import { allOf, anyOf } from '../../../core/access/visible.ts';
import { availableTo, projectOwner } from '../../../projects/project_or_group/owner.ts';
import { milestoneOwnerPath } from '../../../projects/milestones/json.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Reference } from '../convert/options.ts';
import {
  type LocatedReference,
  type Target,
  type Targets,
  distinct,
  groupByProject,
} from './reference_target.ts';

/** A number means an id or iid, unless it is in quotes. */
const isNumber = ({ name, isQuoted }: Reference): boolean => !isQuoted && /^\d{1,15}$/.test(name);

/** Condition: one of the titles or numbers that references name. */
const isNamed = (
  call: Call,
  columns: { title: string; number: string },
  references: readonly Reference[],
) => {
  const { oneOf } = call.platform.store.dialect;
  const [numbers, titles] = [references.filter(isNumber), references.filter((one) => !isNumber(one))];
  return anyOf([
    oneOf(columns.title, distinct(titles.map(({ name }) => name))),
    oneOf(columns.number, distinct(numbers.map(({ name }) => Number(name)))),
  ]);
};

type Found = { of_project: number; number: number | null; title: string };

/** Finds the row of each reference; rows that come first take precedence. */
const match = <R extends Found>(
  placed: readonly LocatedReference[],
  rows: readonly R[],
  toTarget: (row: R, project: Project) => Target,
): Targets => {
  const byTitle = new Map<string, R>();
  const byNumber = new Map<string, R>();
  for (const row of rows.toReversed()) {
    byTitle.set(`${row.of_project} ${row.title}`, row);
    if (row.number !== null) byNumber.set(`${row.of_project} ${row.number}`, row);
  }
  return new Map(
    placed.flatMap(({ reference, project }) => {
      const rowsByName = isNumber(reference) ? byNumber : byTitle;
      const row = rowsByName.get(`${project.id} ${reference.name}`);
      return row === undefined ? [] : [[reference, toTarget(row, project)]];
    }),
  );
};

/** Selects what references name in each project, the project's own rows first. */
const selectEach = async <R extends Found>({ db }: Call, parts: RawBuilder<unknown>[]): Promise<R[]> => {
  const union = sql.join(parts, sql` union all `);
  const { rows } = await sql<R>`select * from (${union}) as found order by is_inherited, id`.execute(db);
  return rows;
};

const filterReadable = (
  call: Call,
  action: ProjectAction,
  placed: readonly LocatedReference[],
): LocatedReference[] => placed.filter(({ project }) => may(call.viewer, action, project));

type FoundLabel = Found & { color: string; description: string | null };

export const loadLabels = async (call: Call, located: readonly LocatedReference[]): Promise<Targets> => {
  const placed = filterReadable(call, 'read_label', located);
  if (placed.length === 0) return new Map();
  const columns = { title: 'labels.title', number: 'labels.id' };
  const parts = groupByProject(placed).map(
    ([
      project,
      references,
    ]) => sql`select labels.id, labels.id as number, ${sql.lit(project.id)} as of_project,
      labels.title, labels.color, labels.description,
      case when labels.project_id is null then 1 else 0 end as is_inherited
      from labels where ${allOf([availableTo('labels', projectOwner(project)), isNamed(call, columns, references)])}`,
  );
  const rows = await selectEach<FoundLabel>(call, parts);
  return match(placed, rows, ({ title, color, description }, project) => ({
    path: `/${project.full_path}/-/issues?label_name=${encodeURIComponent(title)}`,
    title: description ?? '',
    label: title,
    color,
  }));
};

type FoundMilestone = Found & { iid: number; owner_path: string };

export const loadMilestones = async (call: Call, located: readonly LocatedReference[]): Promise<Targets> => {
  const placed = filterReadable(call, 'read_milestone', located);
  if (placed.length === 0) return new Map();
  const columns = { title: 'milestones.title', number: 'milestones.iid' };
  const parts = groupByProject(placed).map(
    ([
      project,
      references,
    ]) => sql`select milestones.id, ${sql.lit(project.id)} as of_project, milestones.title,
      milestones.iid, ${milestoneOwnerPath()} as owner_path,
      case when milestones.project_id is null then null else milestones.iid end as number,
      case when milestones.project_id is null then 1 else 0 end as is_inherited
      from milestones
      where ${allOf([availableTo('milestones', projectOwner(project)), isNamed(call, columns, references)])}`,
  );
  const rows = await selectEach<FoundMilestone>(call, parts);
  return match(placed, rows, ({ iid, title, owner_path }) => ({
    path: `/${owner_path}/-/milestones/${iid}`,
    title,
    label: `%${title}`,
  }));
};
