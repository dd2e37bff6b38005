/** The badges that the service draws for the pipelines of a project, as Markdown to copy. */
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { type SettingsContext, sectionCard } from './settings_section.ts';

const kinds = [
  ['pipeline', 'Pipeline status'],
  ['coverage', 'Test coverage'],
] as const;

type Kind = (typeof kinds)[number];

const badgePart = (baseUrl: string, project: Project, [kind, label]: Kind): Html => {
  const ref = project.default_branch ?? 'main';
  const branch = ref.split('/').map(encodeURIComponent).join('/');
  const path = `/${project.full_path}/badges/${branch}/${kind}.svg`;
  const link = `${projectPagePath(project, 'pipelines')}?${new URLSearchParams({ ref }).toString()}`;
  const markdown = `[![${label}](${baseUrl}${path})](${baseUrl}${link})`;
  const id = `${kind}_badge`;
  return html`<div class="field">
<label for="${id}">${label}</label>
<p><img src="${path}" alt="${label} of ${ref}"></p>
<div class="copy"><input id="${id}" readonly value="${markdown}"><button type="button" class="icon-button" data-copy="${markdown}" hidden aria-label="Copy the Markdown of the badge: ${label}">${icon('copy')}</button></div>
</div>
`;
};

/** Renders the card with the badges of the default branch. */
export const badgeAddressesPart = async ({ visit, project }: SettingsContext): Promise<Html> =>
  sectionCard(
    { key: 'badges', title: 'Badges of pipelines' },
    html`<p>Copy the Markdown into the README. For another branch, replace the branch in it. To show a badge on the page of the project, <a href="${projectPagePath(project, 'settings/badges')}">add it to the badges</a>.</p>
${kinds.map((kind) => badgePart(visit.call.baseUrl, project, kind))}`,
  );
