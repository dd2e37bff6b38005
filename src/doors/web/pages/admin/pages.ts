import { auditPages } from './audit.ts';
import { settingsPages } from './settings.ts';
import { startPages } from './start.ts';
import { workPages } from './background_work.ts';

export const pages = [...startPages, ...settingsPages, ...workPages, ...auditPages];
