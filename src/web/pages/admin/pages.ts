import { auditPages } from './audit.ts';
import { settingsPages } from './settings.ts';
import { startPages } from './start.ts';

export const pages = [...startPages, ...settingsPages, ...auditPages];
