import type { Html } from '../html.ts';
import { sideView } from './tabs_and_side_nav.ts';
import type { View } from '../../page.ts';

/** Administration pages: path and name. */
export const adminLinks = [
  ['/admin', 'Overview'],
  ['/admin/users', 'Users'],
  ['/admin/groups', 'Groups'],
  ['/admin/projects', 'Projects'],
  ['/admin/topics', 'Topics'],
  ['/admin/jobs', 'Jobs'],
  ['/admin/application_settings', 'Settings'],
  ['/admin/runners', 'Runners'],
  ['/admin/variables', 'Variables'],
  ['/admin/applications', 'Applications'],
  ['/admin/deploy_keys', 'Deploy keys'],
  ['/admin/hooks', 'System hooks'],
  ['/admin/failing_webhooks', 'Failing webhooks'],
  ['/admin/broadcast_messages', 'Broadcast messages'],
  ['/admin/background_work', 'Background work'],
  ['/admin/repository_moves', 'Repository moves'],
  ['/admin/mail', 'Mail'],
  ['/admin/health', 'Health'],
  ['/admin/audit_events', 'Audit log'],
] as const;

export type AdminPath = (typeof adminLinks)[number][0];

type Given = {
  path: AdminPath;
  title: string;
  /** Contents of the page, below its link. */
  contents?: Html;
};

/** Renders an administration page with links to the others. */
export const adminView = ({ path, title, contents }: Given, content: Html): View => {
  const links = adminLinks.map(([to, name]) => {
    const isHere = to === path;
    return { path: to, name, isHere, contents: isHere ? contents : undefined };
  });
  return sideView({ label: 'Administration', links, title }, content);
};
