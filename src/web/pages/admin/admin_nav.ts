import type { Html } from '../../html.ts';
import { sideView } from '../../nav.ts';
import type { View } from '../../page.ts';

/** The pages of administrators: path and name. */
const adminLinks = [
  ['/admin', 'Overview'],
  ['/admin/application_settings', 'Settings'],
  ['/admin/runners', 'Runners'],
  ['/admin/variables', 'Variables'],
  ['/admin/background_work', 'Background work'],
  ['/admin/audit_events', 'Audit log'],
] as const;

type AdminPath = (typeof adminLinks)[number][0];

type Given = {
  path: AdminPath;
  title: string;
  /** Below the link of the page: what the page has. */
  contents?: Html;
};

/** A page of administrators, beside the list of them. */
export const adminView = ({ path, title, contents }: Given, content: Html): View => {
  const links = adminLinks.map(([to, name]) => {
    const isHere = to === path;
    return { path: to, name, isHere, contents: isHere ? contents : undefined };
  });
  return sideView({ label: 'Administration', links, title }, content);
};
