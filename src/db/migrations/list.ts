import { begin } from './0001_begin.ts';
import { settings } from './0002_settings.ts';
import type { MigrationText } from '../ddl.ts';

/** Every migration, oldest first. A released one is never edited. */
export const migrationTexts: MigrationText[] = [begin, settings];
