/** The page to choose the project of a new issue or merge request, for lists over several projects. */
import { type RawBuilder, sql } from 'kysely';
import { may } from '../../../../../core/access/may.ts';
import { allOf, readableCode } from '../../../../../core/access/visible.ts';
import { uploadedAvatarUrl } from '../../../../../identity/avatars/avatar_urls.ts';
import { selectDescendants } from '../../../../../identity/namespaces/ancestors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { optional, text } from '../../../../../platform/http/schema.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';
import { type Project, projectsById } from '../../../../../projects/projects/find.ts';
import { listProjects } from '../../../../../projects/projects/lists/list.ts';
import type { Visit } from '../../../page.ts';
import { avatar } from '../../../parts/avatar.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { projectPathParts, visibilityMark } from '../../../parts/projects/project_list.ts';
import { searchForm } from '../../../parts/search_form.ts';

export const chooseProjectParams = { search: optional(text({ maxLength: 255 })), ...pageParams };

type Query = { search?: string | undefined; page: number; per_page: number };

const kinds = {
  issues: { word: 'issue', action: 'create_issue', filter: { with_issues_enabled: true } },
  merge_requests: {
    word: 'merge request',
    action: 'create_merge_request_in',
    filter: { with_merge_requests_enabled: true },
  },
} as const;

type Place = {
  noun: keyof typeof kinds;
  /** Address of the list. */
  listPath: string;
  /** null: projects in which the user is a member. */
  groupId: number | null;
};

const item = ({ call }: Visit, project: Project, noun: Place['noun']): Html => {
  const { name, full_path, visibility } = project;
  const avatar_url = uploadedAvatarUrl(call, 'project', project);
  return html`<li><span class="lead">${avatar({ name, avatar_url, size: 'medium', isSquare: true })}</span>
<span class="row tight"><a class="title" href="${projectPagePath(project, `${noun}/new`)}" data-row>${projectPathParts(full_path)}</a>${visibilityMark(visibility)}</span></li>
`;
};

/** Renders the projects in which the user may create a record, the last active first. */
export const chooseProjectPart = async (
  visit: Visit,
  { noun, listPath, groupId }: Place,
  { search = '', ...paging }: Query,
): Promise<Html> => {
  const { call } = visit;
  const { word, action, filter } = kinds[noun];
  const { dialect } = call.platform.store;
  const within: RawBuilder<boolean> = allOf([
    groupId === null ? sql`1 = 1` : sql`projects.namespace_id in ${selectDescendants(groupId)}`,
    // Users who can read the code of a project may propose changes to it.
    noun === 'issues' ? sql`1 = 1` : readableCode(call.viewer, dialect),
  ]);
  const params = {
    ...filter,
    ...(groupId === null && { membership: true }),
    archived: false,
    simple: true,
    search,
    order_by: 'last_activity_at',
    sort: 'desc',
    ...paging,
  } as const;
  const { items, total } = await listProjects(call, params, within);
  const listed = items as { id: number }[];
  const projects = await projectsById(
    call.db,
    listed.map(({ id }) => id),
  );
  const allowed = listed.flatMap(({ id }) => {
    const project = projects.get(id);
    return project !== undefined && may(call.viewer, action, project) ? [project] : [];
  });
  const path = `${listPath}/new`;
  const none = emptyState({ icon: 'folder', title: `No project in which you may create a ${word}` });
  return html`<p>Choose the project of the new ${word}.</p>
${searchForm({ path, name: 'search', value: search, label: 'Search by name' })}
<section class="card" aria-label="Projects">${
    allowed.length === 0 ? none : html`<ul class="list">${allowed.map((one) => item(visit, one, noun))}</ul>`
  }</section>
${pagesNav({ path, query: { search: omitEmpty(search) }, page: pageRequest(paging), total })}`;
};
