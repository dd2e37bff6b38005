/** Loads the issues, merge requests and snippets that references name, one statement for each kind. */
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { allOf, anyOf, visibleIssues, visibleMergeRequests } from '../../../core/access/visible.ts';
import { issueUrl } from '../../../planning/issues/web_url.ts';
import { visibleSnippets } from '../../../projects/snippets/visible.ts';
import { mergeRequestUrl } from '../../../review/merge_requests/web_url.ts';
import { type LocatedReference, type Targets, distinct, groupByProject } from './reference_target.ts';

/** Finds the row of each reference, by its project and number. */
const match = (
  placed: readonly LocatedReference[],
  rows: readonly { project_id: number | null; number: number; title: string }[],
  toPath: (fullPath: string, number: number) => string,
): Targets => {
  const titles = new Map(rows.map(({ project_id, number, title }) => [`${project_id} ${number}`, title]));
  return new Map(
    placed.flatMap(({ reference, project }) => {
      const number = Number(reference.name);
      const title = titles.get(`${project.id} ${number}`);
      return title === undefined
        ? []
        : [[reference, { path: toPath(project.full_path, number), title, label: null }]];
    }),
  );
};

/** Condition: a row of one of the projects with one of the numbers that references name there. */
const isNamed = (
  { platform }: Call,
  table: 'issues' | 'merge_requests',
  placed: readonly LocatedReference[],
) => {
  const { oneOf } = platform.store.dialect;
  return anyOf(
    groupByProject(placed).map(([project, references]) =>
      allOf([
        oneOf(`${table}.project_id`, [project.id]),
        oneOf(`${table}.iid`, distinct(references.map(({ name }) => Number(name)))),
      ]),
    ),
  );
};

export const loadIssues = async (call: Call, placed: readonly LocatedReference[]): Promise<Targets> => {
  const rows = await call.db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.project_id', 'issues.iid as number', 'issues.title'])
    .where(isNamed(call, 'issues', placed))
    .where(visibleIssues(call.viewer, call.platform.store.dialect))
    .execute();
  return match(placed, rows, (path, iid) => issueUrl('', path, iid));
};

export const loadMergeRequests = async (
  call: Call,
  placed: readonly LocatedReference[],
): Promise<Targets> => {
  const rows = await call.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(['merge_requests.project_id', 'merge_requests.iid as number', 'merge_requests.title'])
    .where(isNamed(call, 'merge_requests', placed))
    .where(visibleMergeRequests(call.viewer, call.platform.store.dialect))
    .execute();
  return match(placed, rows, (path, iid) => mergeRequestUrl('', path, iid));
};

export const loadSnippets = async (call: Call, placed: readonly LocatedReference[]): Promise<Targets> => {
  const { db, viewer, platform } = call;
  const readable = placed.filter(({ project }) => may(viewer, 'read_snippet', project));
  if (readable.length === 0) return new Map();
  const named = groupByProject(readable).map(([project, references]) => {
    const ids = distinct(references.map(({ name }) => Number(name)));
    return allOf([platform.store.dialect.oneOf('snippets.id', ids), visibleSnippets(viewer, project)]);
  });
  const rows = await db
    .selectFrom('snippets')
    .select(['project_id', 'id as number', 'title'])
    .where(anyOf(named))
    .execute();
  return match(readable, rows, (path, id) => `/${path}/snippets/${id}`);
};
