/** The badges of a project or group, with the form that adds one. */
import { type BadgeRow, badgeJson, previewJson } from '../../../../projects/badges/json.ts';
import type { BadgeOwner } from '../../../../projects/badges/owner.ts';
import { listBadges } from '../../../../projects/badges/queries.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { badgeLink } from '../../parts/badges/badge_link.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { form } from '../../parts/form.ts';
import { withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { View, Visit } from '../../page.ts';
import type { SettingsList } from '../ci/owner_settings_routes.ts';
import { type BadgeValues, badgeGuard, badgeInputs, blank, fromRecord, previewButton } from './form.ts';

export type BadgeList = SettingsList & { badges: BadgeOwner };

const row = (visit: Visit, { path, badges }: BadgeList, badge: BadgeRow): Html => {
  const json = badgeJson(badge, badges.placeholders);
  const isOwn = badge.project_id === badges.columns.project_id;
  const own = `${path}/${badge.id}`;
  const name = badge.name ?? badge.image_url;
  return html`<tr>
<th scope="row">${badgeLink(visit, json)}</th>
<td>${badge.name}</td>
<td><code>${json.rendered_link_url}</code></td>
<td>${
    isOwn
      ? html`<a class="button small" href="${own}" aria-label="Edit ${name}">Edit</a>
${form(visit, { action: `${own}/delete`, submit: 'Delete', name: `Delete ${name}`, danger: true, isQuiet: true })}`
      : 'Of the group'
  }</td>
</tr>
`;
};

const table = (
  rows: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Badges"><table>
<thead><tr><th scope="col">Badge</th><th scope="col">Name</th><th scope="col">Link</th><th scope="col">Actions</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>`;

/** Renders what a form would save. */
const previewPart = (visit: Visit, { badges }: BadgeList, { name, ...urls }: BadgeValues): Html => {
  const preview = previewJson(urls, badges.placeholders);
  return html`<section class="card" aria-labelledby="preview_title"><header><h2 id="preview_title">Preview</h2></header>
<div class="body"><p>${badgeLink(visit, { ...preview, name })}</p>
<p>Links to <code>${preview.rendered_link_url}</code></p></div></section>
`;
};

type Query = { page?: number; per_page?: number };

/** A form that was not sent, was refused, or asked for a preview. */
type BadgeFormState = FormState<BadgeValues> & { isPreview?: boolean };

/** Renders the list. */
export const badgesView = async (
  visit: Visit,
  list: BadgeList,
  query: Query = {},
  state: BadgeFormState = unsent(blank),
): Promise<View> => {
  const { path, badges, owner, above } = list;
  const { values, problems, isPreview = false } = state;
  const at = pageRequest(query);
  const { rows, total } = await listBadges(visit.call, badges.shown, at);
  const where =
    owner.scope === 'group' ? 'every project of the group and its subgroups' : 'the page of the project';
  const content = html`${above}<p>Badges are images with a link, shown on ${where}.</p>
${
  rows.length === 0
    ? html`<div class="card">${emptyState({ icon: 'shield', title: 'No badges', text: 'A badge can show the status of the pipeline, the coverage, or the newest version.' })}</div>`
    : table(rows.map((badge) => row(visit, list, badge)))
}
${pagesNav({ path, query: {}, page: at, total })}
${isPreview && previewPart(visit, list, values)}<section class="card" aria-labelledby="new_title"><header><h2 id="new_title">Add a badge</h2></header>
<div class="body">${form(visit, { action: path, submit: 'Add badge', other: previewButton, problems }, ...badgeInputs(values, problems))}</div></section>`;
  return withFormStatus(list.view(visit, 'Badges', content), problems);
};

/** Renders the page that edits a badge. */
export const editBadgeView = (
  visit: Visit,
  list: BadgeList,
  badge: BadgeRow,
  state: BadgeFormState = unsent(fromRecord(badge)),
): View => {
  const path = `${list.path}/${badge.id}`;
  const { base, submit, card } = badgeGuard.parts(badge, state, path);
  const {
    values,
    problems,
    isPreview = problems.text === null && Object.keys(problems.fields).length === 0,
  } = state;
  const content = html`${isPreview && previewPart(visit, list, values)}<section class="card"><div class="body">${form(visit, { action: path, submit, other: previewButton, problems }, ...badgeInputs(values, problems), base)}</div></section>
${card}<p><a href="${list.path}">All badges</a></p>`;
  return withFormStatus(list.view(visit, 'Edit badge', content), problems);
};
