import type { Selectable } from 'kysely';
import type { NotesTable } from '../../platform/db/schema/planning.ts';

export type NoteRow = Selectable<NotesTable>;
