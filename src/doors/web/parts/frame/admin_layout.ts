import type { Html } from '../html.ts';
import { sideView } from './tabs_and_side_nav.ts';
import type { View } from '../../page.ts';

/** Administration pages: path, name, and what they are for. */
export const adminLinks = [
  ['/admin', 'Overview', 'Figures of the instance, and all administration pages.'],
  ['/admin/users', 'Users', 'Create, edit, block and delete accounts, reset passwords, impersonate.'],
  ['/admin/groups', 'Groups', 'All groups, with their projects and members.'],
  ['/admin/projects', 'Projects', 'All projects, their storage and settings.'],
  ['/admin/topics', 'Topics', 'Topics of projects: create, edit, merge and delete them.'],
  ['/admin/jobs', 'Jobs', 'Running and pending jobs of all projects.'],
  ['/admin/application_settings', 'Settings', 'Sign-up, sign-in, defaults of new projects, limits.'],
  ['/admin/configuration', 'Configuration', 'Variables and flags of the process, with their sources.'],
  ['/admin/runners', 'Runners', 'Runners that all projects may use.'],
  ['/admin/variables', 'Variables', 'CI/CD variables of all projects.'],
  ['/admin/applications', 'Applications', 'OAuth applications of the instance and of users.'],
  ['/admin/deploy_keys', 'Deploy keys', 'Keys that give access to projects, and their last use.'],
  ['/admin/hooks', 'System hooks', 'Webhooks about changes in the whole instance.'],
  ['/admin/failing_webhooks', 'Failing webhooks', 'Webhooks of all projects whose deliveries fail.'],
  ['/admin/broadcast_messages', 'Broadcast messages', 'Messages on the pages of everybody.'],
  ['/admin/background_work', 'Background work', 'Waiting, running and failed tasks.'],
  ['/admin/repository_moves', 'Repository moves', 'Move repositories between storages.'],
  ['/admin/mail', 'Mail', 'The mail server, a test mail, and the latest mails.'],
  ['/admin/health', 'Health', 'Database, disks, repository storages, versions, backups.'],
  ['/admin/audit_events', 'Audit log', 'Sign-ins and changes that concern security.'],
] as const;

export type AdminPath = (typeof adminLinks)[number][0];

type AdminPageOptions = {
  path: AdminPath;
  title: string;
  /** Contents of the page, below its link. */
  contents?: Html;
};

/** Renders an administration page with links to the others. */
export const adminView = ({ path, title, contents }: AdminPageOptions, content: Html): View => {
  const links = adminLinks.map(([to, name]) => {
    const isHere = to === path;
    return { path: to, name, isHere, contents: isHere ? contents : undefined };
  });
  return sideView({ label: 'Administration', links, title }, content);
};
