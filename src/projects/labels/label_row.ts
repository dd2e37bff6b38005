import type { Selectable } from 'kysely';
import type { LabelsTable } from '../../platform/db/schema/projects.ts';

export type LabelRow = Selectable<LabelsTable>;
