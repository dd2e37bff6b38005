import type { MigrationText } from '../ddl_keywords.ts';

/** The HTML of sent mails, which administrators look at. */
export const mailHtml: MigrationText = {
  name: '0223_mail_html',
  statements: ({ text }) => [`alter table mails add column html ${text}`],
};
