/** Column types that several tables share. */
import type { Generated } from 'kysely';

export type Flag = 0 | 1;

export const toFlag = (value: boolean): Flag => (value ? 1 : 0);

export type TargetType = 'Issue' | 'MergeRequest';

/** A kind of record with comments. */
export type NoteableType = TargetType | 'Snippet';
export type Visibility = 'private' | 'internal' | 'public';
export type FeatureLevel = 'disabled' | 'private' | 'enabled';
export type ProjectCreationLevel = 'noone' | 'owner' | 'maintainer' | 'developer' | 'administrator';
export type SharedRunnersSetting = 'enabled' | 'disabled_and_overridable' | 'disabled_and_unoverridable';
export type SourceType = 'Namespace' | 'Project';
export type Id = Generated<number>;

export type NotificationLevel = 'disabled' | 'participating' | 'watch' | 'global' | 'mention' | 'custom';
