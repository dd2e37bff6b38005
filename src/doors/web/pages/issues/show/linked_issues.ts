/** The section of linked issues: issues that block this issue, issues it blocks, related issues. */
import type { LinkType } from '../../../../../planning/issues/links/link_types.ts';
import type { LinkedIssue } from '../../../../../planning/issues/links/links.ts';
import type { Visit } from '../../../page.ts';
import { input, select } from '../../../parts/form.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { propertyForm } from '../../../parts/properties/property_forms.ts';
import { none, section } from '../../../parts/properties/property_sections.ts';
import { issuePath } from '../paths.ts';
import type { IssuePage } from './load_issue_page.ts';

/** Headings of the section, in order. */
const headings: Record<LinkType, string> = {
  is_blocked_by: 'Blocked by',
  blocks: 'Blocks',
  relates_to: 'Related',
};

const referenceFrom = ({ loaded }: IssuePage, { project, iid }: LinkedIssue): string =>
  project.id === loaded.project.id ? `#${iid}` : `${project.full_path}#${iid}`;

const line = (shown: IssuePage, linked: LinkedIssue): Html => {
  const isOpen = linked.state === 'opened';
  return html`<li><span class="status ${isOpen ? 'ok' : 'off'}">${
    isOpen ? icon('issue', 'Open') : icon('check-circle', 'Closed')
  }</span> <a href="/${linked.project.full_path}/issues/${linked.iid}">${referenceFrom(shown, linked)} ${linked.title}</a></li>`;
};

const group = (shown: IssuePage, type: LinkType): Html | null => {
  const links = shown.links.filter(({ link_type }) => link_type === type);
  return links.length === 0
    ? null
    : html`<h3>${headings[type]}</h3><ul class="links">${links.map((linked) => line(shown, linked))}</ul>`;
};

const editPart = (visit: Visit, shown: IssuePage): Html => {
  const path = issuePath(shown.loaded, '/links');
  const fields = html`${input({
    name: 'reference',
    id: 'link_reference',
    label: 'Link an issue',
    hint: 'Such as #3, group/project#4, or its address.',
    required: true,
    autocomplete: 'off',
    suggestions: {
      url: `/-/completions?${new URLSearchParams({ kind: 'issue', project: shown.loaded.project.full_path }).toString()}`,
      field: 'insert',
      label: 'text',
      search: 'search',
    },
  })}${select({
    name: 'relation',
    label: 'This issue',
    value: 'relates_to',
    options: [
      ['relates_to', 'is related to it'],
      ['blocks', 'blocks it'],
      ['is_blocked_by', 'is blocked by it'],
    ],
  })}`;
  const removals = shown.links.map((linked) =>
    button(visit, `${path}/${linked.link_id}/delete`, {
      label: `Unlink ${referenceFrom(shown, linked)}`,
    }),
  );
  return html`${propertyForm(visit, path, fields, 'Add link')}${removals.length > 0 && html`<div class="row">${removals}</div>`}`;
};

/** Renders the section; null if there is nothing to show or to do. */
export const linksSection = (visit: Visit, shown: IssuePage): Html | null => {
  const { links, rights } = shown;
  if (links.length === 0 && !rights.admin) return null;
  const types = Object.keys(headings) as LinkType[];
  return section(
    'Linked issues',
    links.length === 0 ? none : html`${types.map((type) => group(shown, type))}`,
    rights.admin && editPart(visit, shown),
  );
};
