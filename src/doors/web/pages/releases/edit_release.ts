/** Edits and deletes releases and their links. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { findRelease } from '../../../../code/releases/find_releases.ts';
import { type ReleaseRow, type ReleaseJson, releasesJson } from '../../../../code/releases/json.ts';
import { linkTypes } from '../../../../code/releases/links.ts';
import { createLink, deleteLink, updateLink } from '../../../../code/releases/write_links.ts';
import {
  type PlannedRelease,
  deleteRelease,
  updateRelease,
} from '../../../../code/releases/write_releases.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Call } from '../../../../core/access/call.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { form, input, select } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { linkTypeNames } from './release_card.ts';
import {
  type FilledRelease,
  filledAsSent,
  loadMilestoneChoices,
  releaseFieldParts,
  releaseFields,
  releaseProblems,
  startOfDay,
  toDay,
  nullIfBlank,
} from './fields.ts';
import { releaseParams, releasePath, releasesPath, releasesRoutePath } from './paths.ts';

type Editing = { code: Code; row: ReleaseRow };

const findToEdit = async (
  call: Call,
  { project, tag }: { project: string; tag: string },
): Promise<Editing> => {
  const code = await findCode(call, project, 'admin_release');
  return { code, row: await findRelease(call.db, code.project.id, tag) };
};

type FilledLink = { name: string; url: string; link_type: string };
/** A link whose form was not accepted; `id` is null for a new one. */
type TriedLink = { id: number | null; filled: FilledLink; problems: FormProblems };

const linkFields = ({ name, url, link_type }: FilledLink, prefix: string, problems: FormProblems) => [
  html`<div class="link-row">${input({ name: 'name', id: `${prefix}_name`, label: 'Link title', value: name, required: true, problems })}${input(
    { name: 'url', id: `${prefix}_url`, label: 'URL', type: 'url', value: url, required: true, problems },
  )}${select({
    name: 'link_type',
    id: `${prefix}_type`,
    label: 'Type',
    value: link_type,
    options: linkTypes.map((one) => [one, linkTypeNames[one]] as const),
  })}</div>`,
];

type Link = ReleaseJson['assets']['links'][number];

const linkItem = (visit: Visit, path: string, link: Link, tried: TriedLink | undefined): Html => {
  const isTried = tried?.id === link.id;
  const problems = isTried ? tried.problems : noProblems;
  const action = `${path}/links/${link.id}`;
  return html`<li><span class="lead">${icon('link')}</span><span class="title"><a href="${link.url}" rel="nofollow noopener">${link.name}</a></span>
<span class="meta">${linkTypeNames[link.link_type]} · ${link.url}</span>
<span class="side">${form(visit, { action: `${action}/delete`, submit: 'Remove', name: `Remove ${link.name}`, isQuiet: true })}</span>
<details${isTried && html` open`}><summary>Edit<span class="visually-hidden"> ${link.name}</span></summary><div class="stack">${form(
    visit,
    { action, submit: 'Save link', isQuiet: true, problems },
    ...linkFields(isTried ? tried.filled : link, `link_${link.id}`, problems),
  )}</div></details></li>
`;
};

const linksCard = (visit: Visit, path: string, links: readonly Link[], tried?: TriedLink): Html => {
  const isTried = tried?.id === null;
  const problems = isTried ? tried.problems : noProblems;
  const empty: FilledLink = { name: '', url: '', link_type: 'other' };
  return html`<section class="card form-page" aria-labelledby="links"><header><h2 id="links">Links to assets</h2></header>
${links.length > 0 && html`<ul class="list">${links.map((link) => linkItem(visit, path, link, tried))}</ul>`}
<div class="body">${form(
    visit,
    { action: `${path}/links`, submit: 'Add link', isQuiet: true, problems },
    ...linkFields(isTried ? tried.filled : empty, 'link_new', problems),
  )}</div></section>`;
};

type Tried = { release?: FormState<FilledRelease>; link?: TriedLink };

const toFilled = (
  { name, description, released_at }: ReleaseRow,
  { milestones }: ReleaseJson,
): FilledRelease => ({
  name,
  description,
  released_at: toDay(released_at),
  milestone_ids: milestones.map((one) => one.id),
});

/** Returns ids in the order of the stored milestones, without the blank of an empty choice. */
const sortIds = (ids: readonly (number | string)[]): string[] =>
  ids
    .filter((one) => one !== '')
    .map(Number)
    .toSorted((a, b) => a - b)
    .map(String);

const releaseGuard = guardEdits({
  word: 'release',
  fromRecord: ({ row, milestones }: PlannedRelease) => ({
    name: row.name,
    released_at: toDay(row.released_at),
    milestones: sortIds(milestones.map(({ id: one }) => one)),
    description: row.description,
  }),
  options: ({ milestones }) => ({
    milestones: milestones.map(({ id: one, title }) => [String(one), title] as const),
  }),
  // Without a date, the operation keeps the stored one.
  normalize: (typed, saved) => ({ ...typed, released_at: typed.released_at || saved.released_at }),
  labels: {
    name: 'Title',
    released_at: 'Release date',
    milestones: 'Milestones',
    description: 'Release notes',
  },
});

const toCompared = ({ name, released_at, description, milestone_ids }: FilledRelease) => ({
  name: name ?? null,
  released_at: released_at ?? '',
  milestones: sortIds(milestone_ids ?? []),
  description: description ?? null,
});

const editView = async (visit: Visit, { code, row }: Editing, tried: Tried = {}): Promise<View> => {
  const { project } = code;
  const [release] = await releasesJson(visit.call, code, [row]);
  if (release === undefined) throw notFound();
  const state = tried.release ?? unsent(toFilled(row, release));
  const { values: filled, problems } = state;
  const milestones = await loadMilestoneChoices(visit, project, release.milestones);
  const path = releasePath(project, row.tag);
  const stored = { row, milestones: release.milestones };
  const compared = { ...state, values: toCompared(filled) };
  const { base, submit, card } = releaseGuard.parts(stored, compared, `${path}/edit`);
  const content = html`<section class="card form-page"><div class="body"><p class="muted">${icon('tag')} ${row.tag}</p>${form(
    visit,
    { action: path, submit, problems },
    ...releaseFieldParts({ project, filled, milestones, problems }),
    base,
  )}</div></section>
${card}
${linksCard(visit, path, release.assets.links, tried.link)}
<section class="card danger-zone form-page"><header><h2>Delete this release</h2></header><div class="body stack">
<p>Its notes and links are deleted. The tag is kept. This cannot be undone.</p>
${form(visit, { action: `${path}/delete`, submit: 'Delete release', danger: true })}</div></section>`;
  const view = projectView(visit, { project, title: 'Edit release', noun: 'releases' }, content);
  return withFormStatus(view, tried.link?.problems ?? problems);
};

const routePath = `${releasesRoutePath}/:tag`;

const editPage = page({
  method: 'GET',
  path: `${routePath}/edit`,
  audience: 'user',
  params: object(releaseParams),
  handle: async (visit, params) => await editView(visit, await findToEdit(visit.call, params)),
});

const update = formPage({
  path: routePath,
  audience: 'user',
  address: releaseParams,
  fields: { ...releaseFields, ...baseField },
  find: async ({ call }, address) => await findToEdit(call, address),
  fromSent: filledAsSent,
  toProblems: releaseProblems,
  run: async ({ call }, { code, row }, { name, description, released_at, milestone_ids, base }, typed) => {
    const day = startOfDay(released_at);
    // The form shows the day only: the time of day is kept.
    const isMoved = day !== null && released_at !== toDay(row.released_at);
    const edit = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description: nullIfBlank(description) }),
      ...(isMoved && { released_at: day }),
      milestone_ids,
      ...releaseGuard.check(base, toCompared(typed)),
    };
    await updateRelease(call, code, row.tag, edit);
    return redirect(releasePath(code.project, row.tag), 'The release was saved.');
  },
  view: async (visit, editing, release) => await editView(visit, editing, { release }),
});

const remove = page({
  method: 'POST',
  path: `${routePath}/delete`,
  audience: 'user',
  params: object(releaseParams),
  handle: async (visit, { project, tag }) => {
    const code = await findCode(visit.call, project, 'admin_release');
    await deleteRelease(visit.call, code, tag);
    return redirect(releasesPath(code.project), `The release ${tag} was deleted.`);
  },
});

const editPath = ({ code, row }: Editing): string => `${releasePath(code.project, row.tag)}/edit`;

/** What the forms of a new and of a stored link share. */
const linkForms = {
  audience: 'user',
  fields: {
    name: optional(text()),
    url: optional(text({ maxLength: 2048 })),
    link_type: oneOf(linkTypes, { default: 'other' }),
  },
  fromSent: (sent: RawParams): FilledLink => readTexts(sent, ['name', 'url', 'link_type']),
  toProblems: (problems: FormProblems) => moveUnknownToText(problems, ['name', 'url']),
} as const;

const addLinkPage = formPage({
  ...linkForms,
  path: `${routePath}/links`,
  address: releaseParams,
  find: async ({ call }, address) => await findToEdit(call, address),
  run: async ({ call }, editing, { name = '', url = '', link_type }) => {
    const link = { name: name.trim(), url: url.trim(), link_type, filepath: null };
    await createLink(call, editing.code, editing.row.tag, link);
    return redirect(editPath(editing), 'The link was added.');
  },
  view: async (visit, editing, { values: filled, problems }) =>
    await editView(visit, editing, { link: { id: null, filled, problems } }),
});

const updateLinkPage = formPage({
  ...linkForms,
  path: `${routePath}/links/:id`,
  address: { ...releaseParams, id: id() },
  find: async ({ call }, address) => ({ ...(await findToEdit(call, address)), linkId: address.id }),
  run: async ({ call }, editing, { name = '', url = '', link_type }) => {
    const linkKey = { tag: editing.row.tag, linkId: editing.linkId };
    await updateLink(call, editing.code, linkKey, { name: name.trim(), url: url.trim(), link_type });
    return redirect(editPath(editing), 'The link was saved.');
  },
  view: async (visit, editing, { values: filled, problems }) =>
    await editView(visit, editing, { link: { id: editing.linkId, filled, problems } }),
});

const removeLinkPage = page({
  method: 'POST',
  path: `${routePath}/links/:id/delete`,
  audience: 'user',
  params: object({ ...releaseParams, id: id() }),
  handle: async (visit, { project, tag, id: linkId }) => {
    const code = await findCode(visit.call, project, 'admin_release');
    await deleteLink(visit.call, code, { tag, linkId });
    return redirect(`${releasePath(code.project, tag)}/edit`, 'The link was removed.');
  },
});

export const editPages = [editPage, update, remove, addLinkPage, updateLinkPage, removeLinkPage];
