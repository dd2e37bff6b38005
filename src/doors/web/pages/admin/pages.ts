import { auditPages } from './audit/pages.ts';
import { settingsPages } from './settings/pages.ts';
import { applicationPages } from './applications/pages.ts';
import { broadcastMessagePages } from './broadcast_messages/pages.ts';
import { configurationPages } from './configuration/pages.ts';
import { deployKeyPages } from './deploy_keys/pages.ts';
import { failingWebhookPages } from './failing_webhooks/pages.ts';
import { groupPages } from './groups/pages.ts';
import { healthPages } from './health/pages.ts';
import { jobPages } from './jobs/pages.ts';
import { mailPages } from './mail/pages.ts';
import { movePages } from './repository_moves/pages.ts';
import { projectPages } from './projects/pages.ts';
import { startPages } from './overview.ts';
import { topicPages } from './topics/pages.ts';
import { userPages } from './users/pages.ts';
import { workPages } from './background_work/pages.ts';

export const pages = [
  ...startPages,
  ...userPages,
  ...groupPages,
  ...projectPages,
  ...topicPages,
  ...jobPages,
  ...applicationPages,
  ...broadcastMessagePages,
  ...deployKeyPages,
  ...failingWebhookPages,
  ...healthPages,
  ...settingsPages,
  ...configurationPages,
  ...workPages,
  ...movePages,
  ...mailPages,
  ...auditPages,
];
