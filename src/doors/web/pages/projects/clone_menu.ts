/** The menu with the addresses to clone from and the archives to download. */
import { sshPrefix } from '../../../../projects/projects/ssh_url.ts';
import { isGitProtocolEnabled } from '../../../../core/settings/setting_effects.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { archiveLinks } from '../../parts/code/archive_links.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';

type Address = { id: string; label: string; url: string };

/** Returns the addresses of a repository, by the protocols that the instance accepts. */
export const cloneAddresses = ({ call }: Visit, { full_path }: Pick<Project, 'full_path'>): Address[] => {
  const { config } = call.platform;
  const hasSsh = config.ssh_listen !== null || config.ssh_external !== null;
  const http = { id: 'clone_http', label: 'HTTP', url: `${call.baseUrl}/${full_path}.git` };
  const ssh = { id: 'clone_ssh', label: 'SSH', url: `${sshPrefix(call.baseUrl, config)}${full_path}.git` };
  return [
    ...(isGitProtocolEnabled(call.settings, 'http') ? [http] : []),
    ...(hasSsh && isGitProtocolEnabled(call.settings, 'ssh') ? [ssh] : []),
  ];
};

const addressField = ({ id, label, url }: Address): Html => html`<div class="field">
<label for="${id}">Clone with ${label}</label>
<div class="copy"><input id="${id}" readonly value="${url}"><button type="button" class="icon-button" data-copy="${url}" hidden aria-label="Copy the ${label} address">${icon('copy')}</button></div>
</div>
`;

const downloads = (project: Project, ref: string): Html => html`<h2>Download source code</h2>
${archiveLinks(project, { ref })}`;

/** Renders the menu. @param ref null if the repository is empty */
export const cloneMenu = (visit: Visit, project: Project, ref: string | null): Html =>
  menu(
    { summary: html`${icon('code')} Clone ${icon('chevron-down')}`, classes: 'button primary' },
    html`<div class="clone">${cloneAddresses(visit, project).map(addressField)}</div>
${ref !== null && downloads(project, ref)}`,
  );
