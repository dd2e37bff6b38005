/** The page of a tag: its message, its release notes and its files to download. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { mayCreateTag, loadProtectedTags } from '../../../../code/repository/protection/rules.ts';
import { tagsJson } from '../../../../code/repository/tags/json.ts';
import { requireTag } from '../../../../code/repository/tags/list.ts';
import { withoutSignature } from '../../../../code/repository/signatures/signature_statuses.ts';
import type { Ref } from '../../../../platform/git/protocol_types.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { may } from '../../../../core/access/may.ts';
import { type View, type Visit, page } from '../../page.ts';
import { archiveLinks } from '../../parts/code/archive_links.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { loadTagSignatures, signatureBadge } from '../../parts/code/signature_badge.ts';
import { form, hidden } from '../../parts/form.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { menu } from '../../parts/menu.ts';
import { releasesPath } from '../releases/paths.ts';
import { type ShownTag, releaseLink, tagBadges, tagCommit } from './list.ts';
import { tagsRoutePath, tagsPath } from './paths.ts';

const mayDelete = async ({ call }: Visit, { project }: Code, name: string): Promise<boolean> =>
  mayCreateTag(call.viewer, project, await loadProtectedTags(call.db, project.id), name);

const actions = async (visit: Visit, code: Code, tag: ShownTag): Promise<Html> => {
  const { project } = code;
  const browse = html`<a class="button" href="${codePath(project, 'tree', tag.name)}">${icon('folder')} Browse files</a>`;
  const create =
    tag.release === null &&
    may(visit.call.viewer, 'admin_release', project) &&
    html`<a class="button" href="${releasesPath(project)}/new?${new URLSearchParams({ tag_name: tag.name }).toString()}">${icon('package')} Create release</a>`;
  if (!(await mayDelete(visit, code, tag.name))) return html`<div class="row">${create}${browse}</div>`;
  const removal = form(
    visit,
    { action: `${tagsPath(project)}/delete`, submit: 'Delete tag', danger: true },
    hidden('tag_name', tag.name),
  );
  const more = menu(
    { summary: icon('dots'), label: 'More actions', classes: 'button' },
    html`<p>The commit is kept. A release of the tag is kept without it.</p>${removal}`,
  );
  return html`<div class="row">${create}${browse}${more}</div>`;
};

const notes = async ({ call }: Visit, { project }: Code, { name, release }: ShownTag): Promise<Html | null> =>
  release === null || (release.description ?? '') === ''
    ? null
    : html`<section class="card" aria-label="Release notes"><header><h2>Release notes</h2></header>${await markdown(call, release.description ?? '', { project, ref: name })}</section>`;

const tagView = async (visit: Visit, code: Code, tag: ShownTag, ref: Ref): Promise<View> => {
  const { project } = code;
  const [buttons, text, signatures] = await Promise.all([
    actions(visit, code, tag),
    notes(visit, code, tag),
    loadTagSignatures(visit, code, [ref]),
  ]);
  const signature = signatures.get(tag.target);
  const message = withoutSignature(tag.message ?? '');
  return projectView(
    visit,
    { project, title: tag.name, noun: 'tags', hasHeading: true },
    html`<div class="row between"><h1>${tag.name}${tagBadges(tag)}</h1>${buttons}</div>
<p class="row muted">${signature !== undefined && signatureBadge(signature, 'tag')}${tagCommit(project, tag)}${releaseLink(visit, project, tag)}</p>
${message !== '' && html`<section class="card" aria-label="Message"><div class="body lines">${message}</div></section>`}
${text}
<section class="card" aria-label="Downloads"><header><h2>Download source code</h2></header><div class="body row">${archiveLinks(project, { ref: tag.name }, 'button')}</div></section>`,
  );
};

export const onePage = page({
  method: 'GET',
  path: `${tagsRoutePath}/:path`,
  audience: 'visitor',
  params: object({ ...projectPath, path: text({ maxLength: 1_000 }) }),
  handle: async (visit, { project: fullPath, path: name }) => {
    const code = await findCode(visit.call, fullPath);
    const ref = await requireTag(code, name);
    const [tag] = await tagsJson(visit.call, code, [ref]);
    if (tag === undefined) throw notFound('Tag');
    return await tagView(visit, code, tag, ref);
  },
});
